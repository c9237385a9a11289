r"""Binomial tails in logarithms, Clopper-Pearson limits, and the risk bound of a test set.

The probability of at most :math:`k` successes is summed downward from its largest term. The logarithm of that term is computed relative
to the entropy (Loader's form), so that precision is kept for :math:`n = 10^9` and :math:`\delta = 10^{-300}`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from surefit.bounds.base import ROUND_OUT, RiskBound, check_count, check_delta, read_losses
from surefit.bounds.kl import excess, kl_inverse, kl_inverse_lower
from surefit.bounds.three_forms import least
from surefit.core.errors import InvalidParameter
from surefit.core.validation import FRACTION

TEST_SET = ("iid", "rows_untouched")


def log_binomial_cdf(k: int, n: int, p: float) -> float:
    r"""Return :math:`\ln P(\mathrm{Bin}(n, p) \le k)`.

    Examples
    --------
    >>> from surefit.bounds import log_binomial_cdf
    >>> round(log_binomial_cdf(0, 100, 0.5), 6), round(log_binomial_cdf(100, 20_000, 0.5), 1)
    (-69.314718, -13236.6)
    """
    if not FRACTION.allows(p):
        raise InvalidParameter("log_binomial_cdf", "p", FRACTION.words, p)
    return _log_cdf(k, n, p, 1.0 - p)


def log_binomial_sf(k: int, n: int, p: float) -> float:
    r"""Return :math:`\ln P(\mathrm{Bin}(n, p) > k)`.

    Examples
    --------
    >>> from surefit.bounds import log_binomial_sf
    >>> round(log_binomial_sf(99, 100, 0.5), 6)
    -69.314718
    """
    if not FRACTION.allows(p):
        raise InvalidParameter("log_binomial_sf", "p", FRACTION.words, p)
    return _log_cdf(n - k - 1, n, 1.0 - p, p)


def clopper_pearson(errors: int, n: int, delta: float = 0.05) -> float:
    r"""Return the Clopper-Pearson upper bound on an error probability after ``errors`` errors in ``n`` independent trials.

    .. math:: \bar p = \max\{p : P(\mathrm{Bin}(n, p) \le k) \ge \delta\}, \quad \bar p = 1 \text{ if } k = n.

    Guarantee: the true probability is at most the returned number with probability at least ``1 - delta``. The tail at the returned
    number (rounded outward by less than one part in 1e12) is at most ``delta`` (theory: :ref:`concentration`).

    Parameters
    ----------
    errors, n : int
        Counts, ``0 <= errors <= n``.
    delta : float in (0, 1)
        Failure probability; down to 1e-300 and below.

    Examples
    --------
    >>> from surefit.bounds import clopper_pearson
    >>> round(clopper_pearson(0, 100, 0.05), 6)  # 1 - 0.05 ** (1 / 100)
    0.029513
    >>> clopper_pearson(5, 5, 0.05)
    1.0
    """
    check_count("clopper_pearson", errors, n)
    check_delta("clopper_pearson", delta)
    return binomial_tail_inverse(int(errors), int(n), math.log(delta))


def clopper_pearson_lower(errors: int, n: int, delta: float = 0.05) -> float:
    r"""Return the lower bound on an error probability that holds with probability at least ``1 - delta``.

    Examples
    --------
    >>> from surefit.bounds import clopper_pearson_lower
    >>> clopper_pearson_lower(0, 100), round(clopper_pearson_lower(100, 100), 6)
    (0.0, 0.970487)
    """
    check_count("clopper_pearson_lower", errors, n)
    check_delta("clopper_pearson_lower", delta)
    k, size, log_delta = int(errors), int(n), math.log(delta)
    if k == 0:
        return 0.0
    low, high = kl_inverse_lower(k / size, -log_delta / size), k / size if log_delta < -0.7 else 1.0
    return max(0.0, root(lambda p: log_binomial_sf(k - 1, size, p) - log_delta, low, high) * (1 - ROUND_OUT))


def clopper_pearson_interval(errors: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Return the equal-tailed interval that covers the true probability with probability at least ``1 - delta``.

    Examples
    --------
    >>> from surefit.bounds import clopper_pearson_interval
    >>> [round(limit, 4) for limit in clopper_pearson_interval(12, 400)]
    [0.0156, 0.0518]
    """
    return clopper_pearson_lower(errors, n, delta / 2), clopper_pearson(errors, n, delta / 2)


def clopper_pearson_size(limit: float, delta: float = 0.05, errors: int = 0) -> int:
    """Return the smallest number of trials for which ``errors`` errors prove an error probability of at most ``limit``.

    Examples
    --------
    >>> from surefit.bounds import clopper_pearson_size
    >>> clopper_pearson_size(0.01), clopper_pearson_size(0.01, errors=3)
    (299, 773)
    """
    check_delta("clopper_pearson_size", delta)
    if not 0 < limit < 1:
        raise InvalidParameter("clopper_pearson_size", "limit", "a number > 0 and < 1", limit)
    log_delta = math.log(delta)
    start = int(errors) + 1
    return least("clopper_pearson_size", lambda n: log_binomial_cdf(int(errors), n, limit) <= log_delta, start)


def binomial_tail_inverse(k: int, n: int, log_delta: float) -> float:
    r"""Return :math:`\max\{p : \ln P(\mathrm{Bin}(n, p) \le k) \ge \ln\delta\}`, rounded outward, for any log-delta < 0.

    Examples
    --------
    >>> from surefit.bounds import binomial_tail_inverse
    >>> round(binomial_tail_inverse(3, 1000, -2000.0), 4)
    0.868
    """
    if k >= n:
        return 1.0
    if k == 0:
        return min(1.0, -math.expm1(log_delta / n) * (1 + ROUND_OUT))
    low = k / n if log_delta < -0.7 else 0.0  # the median of Bin(n, k/n) is k
    high = kl_inverse(k / n, -log_delta / n)  # Chernoff's bound is never smaller
    if high >= 1.0 and log_binomial_cdf(k, n, math.nextafter(1.0, 0.0)) > log_delta:
        return 1.0
    limit = root(lambda p: log_binomial_cdf(k, n, p) - log_delta, low, min(high, math.nextafter(1.0, 0.0)))
    return min(1.0, limit * (1 + ROUND_OUT))


def holdout(errors: int, n: int, delta: float = 0.05) -> RiskBound:
    """Return the risk bound from a test set: the Clopper-Pearson limit for a model that saw none of the ``n`` rows.

    Guarantee: holds for every sample size (theory: :ref:`concentration`). The bound is about the model that was tested; a model refitted
    on all rows needs :func:`transfer`. The rows must not have been used for training or to choose among models: the best of J models
    compared on the same rows needs ``delta / J``.

    Parameters
    ----------
    errors, n : int
        Errors among the untouched rows.
    delta : float
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import holdout
    >>> holdout(12, 400).value  # doctest: +ELLIPSIS
    0.048...
    """
    check_count("holdout", errors, n)
    return RiskBound(
        "holdout",
        clopper_pearson(errors, n, delta),
        delta,
        "risk of the model that saw none of the test rows",
        TEST_SET,
        inputs={"errors": int(errors), "n": int(n)},
        terms={"empirical": errors / n},
    )


def holdout_loss(losses: Any, delta: float = 0.05) -> RiskBound:
    r"""Return a bound on the mean of a loss in [0, 1] from a test set, :math:`\mathrm{kl}^{-1}(\bar\ell, \ln(1/\delta)/n)`.

    Guarantee: as :func:`holdout`, for losses that need not be 0 or 1 (theory: :ref:`concentration`).

    Examples
    --------
    >>> from surefit.bounds import holdout_loss
    >>> round(holdout_loss([0.0, 0.2, 0.1, 0.1] * 50).value, 3)
    0.16
    """
    vector = read_losses("holdout_loss", losses)
    check_delta("holdout_loss", delta)
    mean, n = math.fsum(vector) / len(vector), len(vector)
    return RiskBound(
        "holdout_loss",
        min(1.0, kl_inverse(min(mean, 1.0), -math.log(delta) / n) * (1 + ROUND_OUT)),
        delta,
        "mean loss of the model that saw none of the test rows",
        (*TEST_SET, "loss_in[0,1]"),
        inputs={"empirical": mean, "n": n},
        terms={"empirical": mean},
    )


def _log_cdf(k: int, n: int, p: float, q: float) -> float:
    """Return ``ln P(Bin <= k)``, with p and q = 1 - p both given to full relative precision."""
    if k < 0:
        return -math.inf
    if k >= n or p == 0.0:
        return 0.0
    if q == 0.0:
        return -math.inf
    if k < n * p:
        return _log_sum_downwards(k, n, p, q)
    above = _log_sum_downwards(n - k - 1, n, q, p)  # P(Bin > k) by symmetry
    if above >= 0:
        return -math.inf
    return math.log(-math.expm1(above)) if above > -math.log(2) else math.log1p(-math.exp(above))


def _log_sum_downwards(k: int, n: int, p: float, q: float) -> float:
    """Sum the terms k, k-1, ... relative to term k; they decrease because k is below the mean."""
    total, last, start, chunk = 1.0, 1.0, 0, 64
    while start < k:
        j = k - np.arange(start, min(start + chunk, k), dtype=np.float64)
        products = last * np.cumprod(j * q / ((n - j + 1) * p))
        total += float(np.sum(products))
        last, start, chunk = float(products[-1]), start + chunk, min(2 * chunk, 1 << 16)
        if last < 1e-19 * total:
            break
    return log_pmf(k, n, p, q) + math.log(total)


def log_pmf(k: int, n: int, p: float, q: float) -> float:
    """Return ``ln P(Bin = k)``, with p and q = 1 - p both given to full relative precision."""
    if k == 0:
        return n * math.log(q) if p > 0.5 else n * math.log1p(-p)
    if k == n:
        return n * math.log(p) if q > 0.5 else n * math.log1p(-q)
    shift = n * p - k if p <= 0.5 else (n - k) - n * q  # n p - k from the smaller of the two products
    entropy = excess(float(k), n * p, shift) + excess(float(n - k), n * q, -shift)
    stirling = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    return stirling - entropy + 0.5 * math.log(n / (2 * math.pi * k * (n - k)))


def stirling_error(k: int) -> float:
    """Return ``ln k! - ln(sqrt(2 pi k) (k/e)^k)``."""
    if k < 16:
        return math.lgamma(k + 1.0) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi)
    s = 1.0 / (k * k)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 * s) * s) * s) * s) / k


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a monotone function to 14 digits, or an end of the bracket if the sign does not change inside."""
    at_low, at_high = function(low), function(high)
    if (at_low > 0) == (at_high > 0):
        return high if at_low > 0 else low
    return float(brentq(function, low, high, xtol=1e-300, rtol=1e-14))
