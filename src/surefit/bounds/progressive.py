r"""Progressive validation: every row is tested by a model that was trained on earlier rows only.

Let row :math:`t = 1..T` be tested by a model :math:`h_t` fixed before the row is seen, with loss
:math:`\ell_t \in [0, 1]` and risk :math:`p_t`. Then, with probability at least :math:`1 - \delta`, the mean risk :math:`\bar p = \frac1T
\sum p_t` satisfies, for one :math:`\lambda > 0` chosen before the tested rows were seen,

.. math:: \bar p \le \frac{1 - \exp(-\lambda \hat q - \ln(1/\delta)/T)}{1 - e^{-\lambda}}, \qquad \hat q = \frac1T \sum \ell_t,

and, for losses other than 0 and 1, with :math:`\psi(\lambda) = -\ln(1 - \lambda) - \lambda` and predictions :math:`c_t` of the loss made
before it is seen (the running mean),

.. math:: \bar p \le \hat q + \frac{\ln(1/\delta) + \psi(\lambda) \sum_t (\ell_t - c_t)^2}{\lambda T}, \qquad 0 < \lambda < 1.

A pilot (losses on earlier rows) chooses :math:`\lambda` without any loss of confidence. Without a pilot, the mean of the exponential
martingales of :math:`G` values of :math:`\lambda` is itself a martingale; inverting it is never worse, and usually better, than the best
of the :math:`G` bounds at :math:`\delta / G`. For a convex loss, the risk of the average of the predictions is at most the mean risk.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound, check_count, check_delta, read_losses
from surefit.bounds.kl import kl_inverse, minus_log1p
from surefit.core.errors import InvalidParameter

GRID = 24  # values of lambda mixed when there is no pilot
LARGEST_RATE = 8.0  # larger rates do not change exp(-lambda) noticeably


def progressive_errors(
    errors: int, n: int, delta: float = 0.05, *, rate: float | None = None, about: str | None = None
) -> RiskBound:
    """Bound the mean error rate of models that were each tested on rows they had not seen.

    Guarantee: with probability at least ``1 - delta`` over the rows, the mean of the true error rates of the models, each counted once
    per row it was tested on, is at most ``value`` (theory: :ref:`progressive-validation`). The error of a majority vote of the models is
    at most twice as large.

    Parameters
    ----------
    errors, n : int
        Errors among the ``n`` tested rows.
    delta : float in (0, 1)
        Failure probability.
    rate : float > 0, optional
        A single lambda, chosen on other rows (see :func:`pilot_rate`). None: a mixture of 24 values.
    about : str, optional
        The model whose risk is bounded; by default a random choice among the tested models.

    Examples
    --------
    >>> from surefit.bounds import pilot_rate, progressive_errors
    >>> bound = progressive_errors(60, 1000, rate=pilot_rate(15, 250, 1000))
    >>> round(bound.value, 4), round(progressive_errors(60, 1000).value, 4)
    (0.0802, 0.0852)
    """
    check_count("progressive_errors", errors, n)
    check_delta("progressive_errors", delta)
    return RiskBound(
        "progressive_errors",
        error_limit(errors / n, n, n, delta, _one_rate("progressive_errors", rate, math.inf)),
        delta,
        about or "mean risk of the models tested one after the other",
        ("iid", "order_fixed_before_testing"),
        inputs={"errors": int(errors), "n": int(n), "rate": rate},
        terms={"empirical": errors / n},
    )


def online_mistakes(mistakes: int, n: int, delta: float = 0.05) -> RiskBound:
    """Bound the risk of a random iterate of an online algorithm by its mistakes in one pass over ``n`` iid rows.

    Guarantee: with probability at least ``1 - delta``, the mean of the true risks of the ``n`` hypotheses that the algorithm used to
    predict rows 1, 2, ..., n (equivalently: the risk of one of them drawn at random) is at most ``value`` (theory:
    :ref:`progressive-validation`). Only the first pass counts, and the order must not depend on the rows. This is
    :func:`progressive_errors` without a pilot.

    Parameters
    ----------
    mistakes : int
        Number of rows that were misclassified in the first pass.
    n : int
        Number of rows in the pass.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import online_mistakes
    >>> bound = online_mistakes(40, 1000)
    >>> round(bound.value, 4), bound.vacuous
    (0.0613, False)
    """
    return progressive_errors(mistakes, n, delta, about="risk of a random iterate of the first pass")


def progressive_losses(
    losses: Any, delta: float = 0.05, *, rate: float | None = None, start: float = 0.5, about: str | None = None
) -> RiskBound:
    """Bound the mean risk for a loss in [0, 1] (Brier score, scaled squared error) by its progressive losses.

    Guarantee: as :func:`progressive_errors`. If the loss is convex in the prediction, the same number bounds the risk of
    the *average* of the (clipped) predictions, each model weighted by the rows it was tested on: a deterministic model
    that used all rows (theory: :ref:`progressive-validation`).

    Parameters
    ----------
    losses : array of float in [0, 1]
        Loss of each tested row, in the order of testing.
    delta : float in (0, 1)
        Failure probability.
    rate : float in (0, 1), optional
        A single lambda, from :func:`pilot_rate_bernstein`. None: a mixture of 24 values.
    start : float in [0, 1]
        Prediction of the first loss; later predictions are running means.
    about : str, optional
        The model whose risk is bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import pilot_rate_bernstein, progressive_losses
    >>> losses = np.tile([0.0, 0.01, 0.09, 0.04], 500)
    >>> rate = pilot_rate_bernstein([0.0, 0.01, 0.09, 0.04], n=2000)
    >>> round(progressive_losses(losses, rate=rate).value, 4)
    0.0382
    """
    vector = read_losses("progressive_losses", losses)
    check_delta("progressive_losses", delta)
    n, one = len(vector), _one_rate("progressive_losses", rate, 1.0)
    mean, spread = math.fsum(vector) / n, math.fsum((vector - running_means(vector, start)) ** 2)
    return RiskBound(
        "progressive_losses",
        loss_limit(mean, spread, n, delta, one),
        delta,
        about or "mean risk of the models tested one after the other (and of their average, if the loss is convex)",
        ("iid", "order_fixed_before_testing", "loss_in[0,1]"),
        inputs={"n": n, "rate": rate, "start": float(start)},
        terms={"empirical": mean, "squared_surprise": spread},
        arrays={"losses": vector},
    )


def error_limit(q: float, n: int, rows: float, delta: float, rate: float | None = None) -> float:
    """Return an upper bound on the mean risk for error rate ``q``, if the exponential moment counts ``rows`` independent rows."""
    rates = rate_grid(n, delta) if rate is None else np.array([rate])
    shrink = -np.expm1(-rates)

    def log_capital(p: float) -> float:
        return _log_mean_exp(rows * (-rates * q - np.log1p(-p * shrink)))

    return min(1.0, _smallest_with_capital(-math.log(delta), log_capital, q) * (1 + ROUND_OUT))


def loss_limit(mean: float, spread: float, n: int, delta: float, rate: float | None = None) -> float:
    """Return an upper bound on the mean risk for losses with this mean and this sum of squared prediction errors."""
    rates = bernstein_rate_grid(n, delta) if rate is None else np.array([rate])
    costs = spread * np.array([minus_log1p(-float(lam)) for lam in rates])

    def log_capital(p: float) -> float:
        return _log_mean_exp(rates * n * (p - mean) - costs)

    return min(1.0, _smallest_with_capital(-math.log(delta), log_capital, mean) * (1 + ROUND_OUT))


def pilot_rate(errors: int, n_pilot: int, n: int, delta: float = 0.05) -> float:
    """Return lambda for :func:`surefit.bounds.progressive_errors` from errors on earlier rows; optimal if tested rows have the same rate.

    Examples
    --------
    >>> from surefit.bounds import pilot_rate
    >>> round(pilot_rate(15, 250, 1000), 3)
    0.307
    """
    check_count("pilot_rate", errors, n_pilot)
    check_delta("pilot_rate", delta)
    q = (errors + 0.5) / (n_pilot + 1)  # never 0 or 1: an infinite rate would be vacuous after a single error
    p = kl_inverse(q, -math.log(delta) / n)
    return min(LARGEST_RATE, math.log(p / q) + math.log1p(-q) - math.log1p(-min(p, 1 - 1e-15)))


def pilot_rate_bernstein(losses: Any, n: int, delta: float = 0.05) -> float:
    r"""Return lambda for :func:`surefit.bounds.progressive_losses` from losses on earlier rows with variance v.

    .. math:: \lambda = x / (1 + x), \qquad x = \sqrt{2 \ln(1/\delta) / (n v)}.

    Examples
    --------
    >>> from surefit.bounds import pilot_rate_bernstein
    >>> round(pilot_rate_bernstein([0.0, 0.5, 0.1, 0.2], n=1000), 3)
    0.293
    """
    vector = read_losses("pilot_rate_bernstein", losses)
    check_delta("pilot_rate_bernstein", delta)
    variance = max(float(np.var(vector)), 1 / (4 * n))  # a constant pilot must not give lambda = 1
    x = math.sqrt(-2 * math.log(delta) / (n * variance))
    return x / (1 + x)


def running_means(losses: np.ndarray, start: float = 0.5) -> np.ndarray:
    """Return the prediction of each loss before it is seen: the mean of ``start`` and all earlier losses."""
    sums, total, lost = np.empty(len(losses)), float(start), 0.0
    for t, loss in enumerate(losses.tolist()):
        sums[t] = total + lost  # Neumaier's compensated summation: no error grows with t
        before, total = total, total + loss
        lost += (before - total) + loss if before >= loss else (loss - total) + before
    return np.clip(sums / np.arange(1, len(losses) + 1), 0.0, 1.0)


def rate_grid(n: int, delta: float) -> np.ndarray:
    """Return the 24 lambdas of the mixture, from the best at error 1/2 to the best at 0, for given n and delta."""
    smallest = min(1.0, math.sqrt(-8 * math.log(delta) / n))
    return np.geomspace(smallest, LARGEST_RATE, GRID)


def bernstein_rate_grid(n: int, delta: float) -> np.ndarray:
    """Return the 24 lambdas mixed for real losses, from the best at variance 1/4 to the best at 1/n."""
    x = np.geomspace(math.sqrt(-8 * math.log(delta) / n), math.sqrt(-2 * math.log(delta)), GRID)
    return x / (1 + x)


def _log_mean_exp(exponents: np.ndarray) -> float:
    top = float(np.max(exponents))
    return top + math.log(float(np.mean(np.exp(exponents - top))))


def _smallest_with_capital(target: float, log_capital: Callable[[float], float], low: float) -> float:
    """Return the smallest p with ``log_capital(p) >= target``; 1 if there is none (the capital increases with p)."""
    high = math.nextafter(1.0, 0.0)
    if log_capital(high) < target:
        return 1.0
    while low < (middle := 0.5 * (low + high)) < high and high - low > 1e-14 * high:
        low, high = (low, middle) if log_capital(middle) >= target else (middle, high)
    return high


def _one_rate(who: str, rate: float | None, largest: float) -> float | None:
    if rate is None or 0 < rate < largest:
        return rate
    raise InvalidParameter(who, "rate", f"a number > 0 and < {largest:g}", rate)
