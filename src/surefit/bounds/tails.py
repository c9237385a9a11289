r"""Concentration of averages: Markov, Chebyshev, Hoeffding, sub-Gaussian and Bernstein, in three forms each.

Every function takes two of ``n`` (observations), ``radius`` (deviation of the average from its mean) and ``delta`` (probability of a
larger deviation) and returns all three. ``sides=2`` refers to the absolute deviation, ``sides=1`` to one direction.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, Deviation, RiskBound, check_delta, read_losses
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidParameter
from surefit.core.validation import NON_NEGATIVE, POSITIVE

ABOUT = "deviation of the average from its mean"


def markov(mean: float, *, threshold: float | None = None, delta: float | None = None) -> Deviation:
    r"""Return Markov's inequality :math:`P(X \ge a) \le E[X] / a` for :math:`X \ge 0`.

    Guarantee: also exact for the empirical distribution of any non-negative sample: the fraction of entries that are at
    least ``a`` is at most their mean divided by ``a`` (theory: :ref:`concentration`).

    Parameters
    ----------
    mean : float >= 0
        Expectation of X.
    threshold, delta : one of the two
        The threshold a, or the probability of reaching it. ``radius`` of the result is the threshold.

    Examples
    --------
    >>> from surefit.bounds import markov
    >>> round(markov(2.0, threshold=8.0).delta, 12), round(markov(2.0, delta=0.25).radius, 12)
    (0.25, 8.0)
    """
    if not NON_NEGATIVE.allows(mean):
        raise InvalidParameter("markov", "mean", NON_NEGATIVE.words, mean)
    _, level, log_delta = two_of_three(
        "markov",
        n=1,
        radius=threshold,
        delta=delta,
        log_tail=lambda n, a: min(0.0, _log(mean) - math.log(a)),
        radius_of=lambda n, log_delta: mean * math.exp(-log_delta),
    )
    return Deviation("markov", 1, level, log_delta, "the variable", ("non_negative",), width=math.inf, of_a_risk=False)


def chebyshev(
    variance: float, *, n: int | None = None, radius: float | None = None, delta: float | None = None
) -> Deviation:
    r"""Return Chebyshev's inequality :math:`P(|\bar X - \mu| \ge \varepsilon) \le \sigma^2 / (n \varepsilon^2)`.

    Guarantee: requires only a finite variance and pairwise uncorrelated observations (theory: :ref:`concentration`). With ``n=1`` it is
    exact for the empirical distribution of any sample.

    Parameters
    ----------
    variance : float >= 0
        Variance of one observation, or an upper bound on it.
    n, radius, delta : two of the three
        Observations, deviation, failure probability.

    Examples
    --------
    >>> from surefit.bounds import chebyshev
    >>> round(chebyshev(0.25, n=100, radius=0.1).delta, 4), round(chebyshev(0.25, n=100, delta=0.25).radius, 4)
    (0.25, 0.1)
    """
    if not NON_NEGATIVE.allows(variance):
        raise InvalidParameter("chebyshev", "variance", NON_NEGATIVE.words, variance)
    size, eps, log_delta = two_of_three(
        "chebyshev",
        n=n,
        radius=radius,
        delta=delta,
        log_tail=lambda n, eps: min(0.0, _log(variance) - math.log(n) - 2 * math.log(eps)),
        radius_of=lambda n, log_delta: math.sqrt(variance / n) * math.exp(-log_delta / 2),
    )
    assumptions, inputs = ("uncorrelated", "finite_variance"), {"variance": float(variance)}
    return Deviation("chebyshev", size, eps, log_delta, ABOUT, assumptions, 2, math.inf, inputs)


def hoeffding(
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    loss_bound: float | Sequence[float] = 1.0,
    sides: int = 2,
) -> Deviation:
    r"""Return Hoeffding's inequality for independent :math:`X_i \in [a_i, b_i]`.

    .. math:: P(|\bar X - E \bar X| \ge \varepsilon) \le 2 \exp\Bigl(\frac{-2 n^2 \varepsilon^2}{\sum (b_i - a_i)^2}\Bigr);

    the one-sided bound does not have the factor 2. The observations need not have the same distribution.

    Guarantee: for the error of one classifier on ``n`` rows it never saw, ``radius`` is the half-width of an interval that covers its
    risk (theory: :ref:`concentration`). It does not apply to training rows: use :func:`finite_class`, :func:`vc` or another uniform
    bound.

    Parameters
    ----------
    n, radius, delta : two of the three
        Observations, deviation, failure probability.
    loss_bound : float > 0, or n of them
        :math:`b_i - a_i`; declared before the data are seen.
    sides : {1, 2}
        Whether to bound one or both directions.

    Examples
    --------
    >>> from surefit.bounds import hoeffding
    >>> round(hoeffding(n=100, radius=0.1).delta, 7), round(hoeffding(n=1000, delta=0.05).radius, 5)
    (0.2706706, 0.04295)
    >>> hoeffding(radius=0.1, delta=0.05).n
    185
    """
    squares = np.square(np.atleast_1d(np.asarray(loss_bound, dtype=np.float64)))
    if not (squares.ndim == 1 and np.all(squares > 0) and np.all(np.isfinite(squares))):
        raise InvalidParameter("hoeffding", "loss_bound", "a number > 0, or one for each observation", loss_bound)
    if len(squares) > 1 and n != len(squares):
        wanted = f"one number for each of the n = {n} observations"
        raise InvalidParameter("hoeffding", "loss_bound", wanted, len(squares))
    mean_square = float(np.mean(squares))
    return _gaussian("hoeffding", mean_square / 4, n, radius, delta, sides, math.sqrt(float(np.max(squares))))


def sub_gaussian(
    sigma: float,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    sides: int = 2,
) -> Deviation:
    r"""Bound the average of independent centered sub-Gaussian variables, :math:`\ln E e^{\lambda X} \le \lambda^2 \sigma^2 / 2`.

    .. math:: P(|\bar X| \ge \varepsilon) \le 2 e^{-n \varepsilon^2 / 2\sigma^2}.

    Guarantee: Gaussian variables are the extreme case; bounded ones have :math:`\sigma = (b - a)/2`, which is
    :func:`hoeffding` (theory: :ref:`concentration`).

    Parameters
    ----------
    sigma : float > 0
        Sub-Gaussian scale.
    n, radius, delta : two of the three
        Observations, deviation, failure probability.
    sides : {1, 2}
        Whether to bound one or both directions.

    Examples
    --------
    >>> from surefit.bounds import sub_gaussian
    >>> round(sub_gaussian(1.0, n=100, delta=0.05).radius, 4)
    0.2716
    """
    if not POSITIVE.allows(sigma):
        raise InvalidParameter("sub_gaussian", "sigma", POSITIVE.words, sigma)
    return _gaussian("sub_gaussian", float(sigma) ** 2, n, radius, delta, sides, math.inf)


def bernstein(
    variance: float,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    loss_bound: float = 1.0,
    sides: int = 1,
) -> Deviation:
    r"""Return Bernstein's inequality for independent :math:`X_i` with known variance :math:`v` and :math:`|X_i - E X_i| \le b`.

    .. math:: P(\bar X - \mu \ge \varepsilon) \le \exp\Bigl(\frac{-n \varepsilon^2}{2 (v + b \varepsilon / 3)}\Bigr).

    Guarantee: better than :func:`hoeffding` when the variance is small (theory: :ref:`concentration`).

    Parameters
    ----------
    variance : float >= 0
        Variance of one observation.
    n, radius, delta : two of the three
        Observations, deviation, failure probability.
    loss_bound : float > 0
        The largest deviation b of one observation from its mean.
    sides : {1, 2}
        Whether to bound one or both directions.

    Examples
    --------
    >>> from surefit.bounds import bernstein, hoeffding
    >>> round(bernstein(0.01, n=1000, delta=0.05).radius, 4), round(hoeffding(n=1000, delta=0.05, sides=1).radius, 4)
    (0.0088, 0.0387)
    """
    if not NON_NEGATIVE.allows(variance):
        raise InvalidParameter("bernstein", "variance", NON_NEGATIVE.words, variance)
    if not POSITIVE.allows(loss_bound):
        raise InvalidParameter("bernstein", "loss_bound", POSITIVE.words, loss_bound)
    log_factor = _log_sides("bernstein", sides)

    def log_tail(n: Any, eps: Any) -> Any:
        return min(0.0, log_factor - n * eps * (eps / (2 * (variance + loss_bound * eps / 3))))

    def radius_of(n: Any, log_delta: Any) -> Any:
        linear = loss_bound * (log_factor - log_delta) / (3 * n)
        return linear + math.sqrt(linear * linear + 2 * variance * (log_factor - log_delta) / n)

    size, eps, log_delta = two_of_three(
        "bernstein", n=n, radius=radius, delta=delta, log_tail=log_tail, radius_of=radius_of
    )
    assumptions, inputs = ("independent", "variance_known"), {"variance": float(variance)}
    return Deviation("bernstein", size, eps, log_delta, ABOUT, assumptions, sides, float(loss_bound), inputs)


def empirical_bernstein(losses: Any, delta: float = 0.05) -> RiskBound:
    r"""Bound the mean of a loss in [0, 1] by the sample's own variance :math:`V` (divisor :math:`n - 1`).

    .. math:: \mu \le \bar X + \sqrt{\frac{2 V \ln(2/\delta)}{n}} + \frac{7 \ln(2/\delta)}{3 (n - 1)}, \quad n \ge 2.

    Guarantee: with probability at least ``1 - delta``; the variance need not be known (theory: :ref:`concentration`).
    For rows tested in sequence, :func:`progressive_losses` is usually smaller.

    Parameters
    ----------
    losses : array of float in [0, 1]
        Losses, at least two.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import empirical_bernstein
    >>> round(empirical_bernstein([0.0, 0.1] * 500).value, 4)
    0.0629
    """
    vector = read_losses("empirical_bernstein", losses)
    check_delta("empirical_bernstein", delta)
    n = len(vector)
    if n < 2:
        raise InvalidParameter("empirical_bernstein", "losses", "at least two numbers", n)
    mean, variance = math.fsum(vector) / n, float(np.var(vector, ddof=1))
    log_term = math.log(2) - math.log(delta)
    spread, linear = math.sqrt(2 * variance * log_term / n), 7 * log_term / (3 * (n - 1))
    return RiskBound(
        "empirical_bernstein",
        min(1.0, (mean + spread + linear) * (1 + ROUND_OUT)),
        delta,
        "mean loss of the model that saw none of the test rows",
        ("iid", "rows_untouched", "loss_in[0,1]"),
        inputs={"n": n},
        terms={"empirical": mean, "spread": spread, "linear": linear},
        arrays={"losses": vector},
    )


def gaussian_approximation(sigma: float, n: int, radius: float, sides: int = 2) -> float:
    r"""Return the normal approximation of :math:`P(|\bar X - \mu| > \varepsilon)`. **Not a bound**.

    It can be below the true probability: for 100 fair coins and radius 0.1 it gives 0.0455; the exact value is 0.0569.

    Examples
    --------
    >>> from surefit.bounds import gaussian_approximation
    >>> round(gaussian_approximation(0.5, 100, 0.1), 7)
    0.0455003
    """
    if not POSITIVE.allows(sigma):
        raise InvalidParameter("gaussian_approximation", "sigma", POSITIVE.words, sigma)
    _log_sides("gaussian_approximation", sides)
    return sides * 0.5 * math.erfc(radius * math.sqrt(n / 2) / sigma)


def _gaussian(who: Any, variance: Any, n: Any, radius: Any, delta: Any, sides: Any, width: Any) -> Deviation:
    """Bound ``P <= sides exp(-n eps^2 / (2 variance))``, the common form of Hoeffding and sub-Gaussian tails."""
    log_factor = _log_sides(who, sides)
    size, eps, log_delta = two_of_three(
        who,
        n=n,
        radius=radius,
        delta=delta,
        log_tail=lambda n, eps: min(0.0, log_factor - n * eps * (eps / (2 * variance))),
        radius_of=lambda n, log_delta: math.sqrt(2 * variance * (log_factor - log_delta) / n),
    )
    inputs = {"variance": float(variance)}  # of the sub-Gaussian distribution: width^2 / 4
    return Deviation(who, size, eps, log_delta, ABOUT, ("independent", "range_declared"), sides, width, inputs)


def _log_sides(who: str, sides: int) -> float:
    if sides not in (1, 2):
        raise InvalidParameter(who, "sides", "1 or 2", sides)
    return math.log(sides)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
