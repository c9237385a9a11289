r"""Binary relative entropy, its inverse in the second argument, and the Chernoff bound for averages in [0, 1].

.. math:: \mathrm{kl}(q \| p) = q \ln\frac qp + (1 - q) \ln\frac{1 - q}{1 - p}.

For independent :math:`X_i \in [0, 1]` with mean :math:`p`, :math:`P(\bar X \le q) \le e^{-n\,\mathrm{kl}(q \| p)}` for
:math:`q \le p`; so :math:`p \le \mathrm{kl}^{-1}(\bar X, \ln(1/\delta)/n)` with probability at least :math:`1 - \delta`.
"""

import math
from typing import Any

from surefit.bounds.base import Deviation
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidParameter
from surefit.core.validation import FRACTION

OUTWARD = 2.0**-48  # relative; larger than the rounding of ``binary_kl``, so that its inverses are conservative


def binary_kl(q: float, p: float) -> float:
    """Return the relative entropy between two Bernoulli distributions, without cancellation for close ``q`` and ``p``.

    Examples
    --------
    >>> from surefit.bounds import binary_kl
    >>> binary_kl(0.5, 0.5), round(binary_kl(0.1, 0.3), 6), binary_kl(0.5, 1.0)
    (0.0, 0.116322, inf)
    """
    for name, value in (("q", q), ("p", p)):
        if not FRACTION.allows(value):
            raise InvalidParameter("binary_kl", name, FRACTION.words, value)
    return excess(q, p, p - q) + excess(1.0 - q, 1.0 - p, q - p)


def excess(x: float, m: float, difference: float) -> float:
    r"""Return :math:`x \ln(x / m) + m - x \ge 0` from :math:`x`, :math:`m` and :math:`m - x`, each to full precision."""
    if x <= 0.0:
        return max(m, 0.0)
    if m <= 0.0:
        return math.inf
    ratio, quotient = difference / x, x / m
    if abs(ratio) < 0.3:
        return x * minus_log1p(ratio)
    log_quotient = math.log(quotient) if 1e-300 < quotient < math.inf else math.log(x) - math.log(m)
    return x * log_quotient + difference


def minus_log1p(t: float) -> float:
    r"""Return :math:`t - \ln(1 + t)` to full relative precision."""
    if not -0.3 < t < 0.3:
        return t - math.log1p(t)
    # ln(1 + t) = 2 artanh(y) with y = t / (2 + t), and t - 2y = t y: the two leading terms cancel analytically.
    y = t / (2.0 + t)
    square, power, series = y * y, y * y * y, 0.0
    for odd in range(3, 41, 2):
        series += power / odd
        power *= square
    return t * y - 2.0 * series


def kl_inverse(q: float, c: float) -> float:
    r"""Return :math:`\max\{p : \mathrm{kl}(q \| p) \le c\}`, rounded up.

    Guarantee: for the mean ``q`` of ``n`` independent observations in [0, 1] and ``c = ln(1/delta)/n``, their expectation
    is at most the returned number with probability at least ``1 - delta`` (theory: :ref:`concentration`).

    Parameters
    ----------
    q : float in [0, 1]
        Observed mean.
    c : float >= 0
        Allowed relative entropy.

    Examples
    --------
    >>> import math
    >>> from surefit.bounds import kl_inverse
    >>> round(kl_inverse(0.03, math.log(20) / 400), 4), kl_inverse(1.0, 0.1)
    (0.0557, 1.0)
    """
    _check("kl_inverse", q, c)
    if q == 0.0:
        return min(1.0, -math.expm1(-c) * (1 + OUTWARD))
    c *= 1 + OUTWARD
    # First find a bracket (kl >= (p - q)^2 / (2p) for p > q), so that bisection keeps relative precision for tiny q.
    low, high = q, min(1.0, q + c + math.sqrt(c * (c + 2 * q)))
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if binary_kl(q, middle) <= c else (low, middle)
    return high


def kl_inverse_lower(q: float, c: float) -> float:
    r"""Return :math:`\min\{p : \mathrm{kl}(q \| p) \le c\}`, rounded down.

    Examples
    --------
    >>> import math
    >>> from surefit.bounds import kl_inverse_lower
    >>> round(kl_inverse_lower(0.97, math.log(20) / 400), 4), kl_inverse_lower(0.0, 0.1)
    (0.9443, 0.0)
    """
    _check("kl_inverse_lower", q, c)
    if q == 1.0:
        return max(0.0, math.exp(-c) * (1 - OUTWARD))
    low, high, c = 0.0, q, c * (1 + OUTWARD)
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if binary_kl(q, middle) <= c else (middle, high)
    return low


def relative_entropy(
    mean: float, *, n: int | None = None, radius: float | None = None, delta: float | None = None, sides: int = 1
) -> Deviation:
    r"""Return Chernoff's inequality for averages in [0, 1] with known mean, from two of n, radius and delta.

    .. math:: P(\bar X \ge p + \varepsilon) \le e^{-n \, \mathrm{kl}(p + \varepsilon \| p)}, \qquad
              P(\bar X \le p - \varepsilon) \le e^{-n \, \mathrm{kl}(p - \varepsilon \| p)}.

    Guarantee: never larger than :func:`hoeffding` (Pinsker); theory: :ref:`concentration`.

    Parameters
    ----------
    mean : float in [0, 1]
        The true mean p.
    n, radius, delta : two of the three
        Rows, deviation, failure probability.
    sides : {1, 2}
        1: the average above the mean. 2: both directions.

    Examples
    --------
    >>> from surefit.bounds import relative_entropy
    >>> round(relative_entropy(0.5, n=100, radius=0.1, sides=2).delta, 6)
    0.267027
    """
    if not FRACTION.allows(mean):
        raise InvalidParameter("relative_entropy", "mean", FRACTION.words, mean)
    if sides not in (1, 2):
        raise InvalidParameter("relative_entropy", "sides", "1 or 2", sides)

    def log_tail(size: Any, eps: Any) -> Any:
        above = -size * binary_kl(mean + eps, mean) if mean + eps <= 1 else -math.inf
        if sides == 1:
            return above
        below = -size * binary_kl(mean - eps, mean) if mean - eps >= 0 else -math.inf
        top = max(above, below)
        return top if top == -math.inf else top + math.log(math.exp(above - top) + math.exp(below - top))

    def radius_of(size: Any, log_delta: Any) -> Any:
        low, high = 0.0, max(1.0 - mean, mean if sides == 2 else 0.0)
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (low, middle) if log_tail(size, middle) <= log_delta else (middle, high)
        return high

    size, eps, log_delta = two_of_three(
        "relative_entropy", n=n, radius=radius, delta=delta, log_tail=log_tail, radius_of=radius_of
    )
    about = "deviation of the average from its mean"
    assumptions = ("independent", "range_[0,1]")
    return Deviation("relative_entropy", size, eps, log_delta, about, assumptions, sides, of_a_risk=False)


def _check(who: str, q: float, c: float) -> None:
    if not FRACTION.allows(q):
        raise InvalidParameter(who, "q", FRACTION.words, q)
    if not c >= 0:
        raise InvalidParameter(who, "c", "a number >= 0", c)
