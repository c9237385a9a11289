r"""Chernoff's method: exponential moments and the Cramér transform.

With :math:`\psi(\lambda) = \ln E e^{\lambda X}` and :math:`\psi^*(t) = \sup_{\lambda \ge 0} (\lambda t - \psi(\lambda))`,

.. math:: P(X \ge t) \le e^{-\psi^*(t)}, \qquad P(\bar X \ge t) \le e^{-n \psi^*(t)} \quad (t \ge E X).

Every :math:`\lambda \ge 0` gives a valid bound, so an inexact numerical maximizer can only loosen it.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.bounds.base import Deviation
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, FRACTION, POSITIVE

LogMGF = Callable[[float], float]
FAR = 2.0**60  # if the objective still increases at this exponent, it is treated as unbounded


def cramer_transform(log_mgf: LogMGF, t: float, largest: float = math.inf) -> tuple[float, float]:
    r"""Return :math:`\psi^*(t) = \sup_{0 \le \lambda < \text{largest}} (\lambda t - \psi(\lambda))` and its :math:`\lambda`.

    Parameters
    ----------
    log_mgf : callable
        :math:`\psi`, convex with :math:`\psi(0) = 0`; may return ``inf``.
    t : float
        Where the transform is evaluated.
    largest : float
        End of the domain of ``log_mgf``.

    Examples
    --------
    >>> from surefit.bounds import binary_kl, cramer_transform, log_mgf_bernoulli
    >>> rate, exponent = cramer_transform(log_mgf_bernoulli(0.3), 0.5)
    >>> abs(rate - binary_kl(0.5, 0.3)) < 1e-12
    True
    """

    def gain(lam: float) -> float:
        value = lam * t - log_mgf(lam)
        return value if value == value else -math.inf

    low, middle, best = 0.0, min(1.0, 0.5 * largest), 0.0
    high = middle
    while gain(high) > best and high < FAR:  # concave: the first value that does not improve brackets the maximum
        low, middle, best = (middle if high > middle else 0.0), high, gain(high)
        high = 2 * high if math.isinf(largest) else 0.5 * (high + largest)
        if high == middle:
            break
    if high >= FAR:
        grows = gain(high) - gain(0.5 * high)
        return (math.inf, math.inf) if grows > 1e-6 * high else (gain(high), high)
    return _golden(gain, low, high)


def _golden(gain: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    shrink = (math.sqrt(5) - 1) / 2
    left, right = high - shrink * (high - low), low + shrink * (high - low)
    at_left, at_right = gain(left), gain(right)
    for _ in range(120):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + shrink * (high - low)
            at_right = gain(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - shrink * (high - low)
            at_left = gain(left)
    best = max((at_left, left), (at_right, right), (gain(low), low))
    return (0.0, 0.0) if best[0] <= 0 else best


def chernoff(distribution: Any, threshold: float, n: int = 1) -> Deviation:
    r"""Return Chernoff's bound :math:`P(\bar X \ge t) \le e^{-n \psi^*(t)}` for a distribution or a sample.

    Guarantee: for a sample, it bounds the fraction of entries that are at least ``threshold`` (``n=1``), without any probability (theory:
    :ref:`concentration`).

    Parameters
    ----------
    distribution : callable or array
        Logarithm of the moment generating function, or a sample that stands for its empirical distribution.
    threshold : float
        The threshold t.
    n : int
        Number of independent copies in the average.

    Examples
    --------
    >>> from surefit.bounds import chernoff, log_mgf_gaussian
    >>> round(chernoff(log_mgf_gaussian(1.0), 2.0).delta, 6)  # exp(-2)
    0.135335
    """
    if not COUNT.allows(n):
        raise InvalidParameter("chernoff", "n", COUNT.words, n)
    log_mgf = distribution if callable(distribution) else log_mgf_sample(distribution)
    rate, exponent = cramer_transform(log_mgf, float(threshold))
    inputs = {"rate": rate, "exponent": exponent}
    return Deviation(
        "chernoff",
        int(n),
        float(threshold),
        -n * rate,
        "the average",
        ("independent",),
        width=math.inf,
        inputs=inputs,
        of_a_risk=False,
    )


def cramer(
    log_mgf: LogMGF,
    mean: float,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
) -> Deviation:
    r"""Bound the deviation of an average above its mean, :math:`P(\bar X \ge \mu + \varepsilon) \le e^{-n \psi^*(\mu + \varepsilon)}`.

    Guarantee: for every n; the exponent is optimal (theory: :ref:`concentration`). For deviations below the mean, pass the distribution
    of :math:`-X`.

    Parameters
    ----------
    log_mgf : callable
        Logarithm of the moment generating function of one observation.
    mean : float
        Its expectation.
    n, radius, delta : two of the three
        Observations, deviation, failure probability.

    Examples
    --------
    >>> from surefit.bounds import cramer, log_mgf_bernoulli
    >>> bound = cramer(log_mgf_bernoulli(0.1), 0.1, n=200, delta=0.05)
    >>> round(bound.radius, 4), cramer(log_mgf_bernoulli(0.1), 0.1, radius=bound.radius, delta=0.05).n
    (0.0557, 200)
    """

    def log_tail(size: Any, eps: Any) -> Any:
        return -size * cramer_transform(log_mgf, mean + eps)[0]

    def radius_of(size: Any, log_delta: Any) -> Any:
        low, high = 0.0, 1.0
        while log_tail(size, high) > log_delta and high < FAR:
            low, high = high, 2 * high
        while low < (middle := 0.5 * (low + high)) < high and high - low > 1e-13 * high:
            low, high = (low, middle) if log_tail(size, middle) <= log_delta else (middle, high)
        return high

    size, eps, log_delta = two_of_three(
        "cramer", n=n, radius=radius, delta=delta, log_tail=log_tail, radius_of=radius_of
    )
    about = "deviation of the average above its mean"
    return Deviation(
        "cramer", size, eps, log_delta, about, ("independent", "distribution_known"), width=math.inf, of_a_risk=False
    )


def log_mgf_bernoulli(p: float) -> LogMGF:
    r"""Return :math:`\psi(\lambda) = \ln(1 - p + p e^\lambda)` of a Bernoulli variable.

    Examples
    --------
    >>> from surefit.bounds import log_mgf_bernoulli
    >>> log_mgf_bernoulli(0.5)(0.0)
    0.0
    """
    if not FRACTION.allows(p):
        raise InvalidParameter("log_mgf_bernoulli", "p", FRACTION.words, p)

    def log_mgf(lam: float) -> float:
        if p == 0.0 or lam <= 30.0:
            return math.log1p(p * math.expm1(lam)) if p else 0.0
        return lam + math.log(p) + math.log1p((1 - p) / p * math.exp(-lam))

    return log_mgf


def log_mgf_gaussian(sigma: float, mean: float = 0.0) -> LogMGF:
    r"""Return :math:`\psi(\lambda) = \lambda \mu + \lambda^2 \sigma^2 / 2` of a normal (or sub-Gaussian) distribution.

    Examples
    --------
    >>> from surefit.bounds import log_mgf_gaussian
    >>> log_mgf_gaussian(2.0)(1.0)
    2.0
    """
    if not POSITIVE.allows(sigma):
        raise InvalidParameter("log_mgf_gaussian", "sigma", POSITIVE.words, sigma)
    return lambda lam: lam * mean + 0.5 * (lam * sigma) ** 2


def log_mgf_sample(sample: Any) -> LogMGF:
    """Return the logarithm of the mean of ``exp(lambda x)`` over a sample, as a function of ``lambda``.

    Examples
    --------
    >>> from surefit.bounds import log_mgf_sample
    >>> round(log_mgf_sample([0.0, 1.0])(1.0), 6)  # ln((1 + e) / 2)
    0.620115
    """
    values = np.asarray(sample, dtype=np.float64).ravel()
    if len(values) == 0 or not np.all(np.isfinite(values)):
        raise InvalidData("log_mgf_sample: the sample must be a non-empty array of finite numbers.")
    largest = float(np.max(values))
    return lambda lam: lam * largest + math.log(float(np.mean(np.exp(lam * (values - largest)))))
