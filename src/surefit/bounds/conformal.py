r"""Conformal prediction: quantiles of calibration scores, and their coverage on average and given the calibration data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from surefit.bounds.base import RiskBound, check_delta
from surefit.bounds.binomial import clopper_pearson, clopper_pearson_lower
from surefit.bounds.three_forms import least
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT

ALPHA = "a number > 0 and < 1"


@dataclass(frozen=True)
class ConformalQuantile:
    r"""Threshold for scores: the set of all labels or values with a score of at most ``value`` covers the truth.

    It is the ``rank``-th smallest of ``m`` calibration scores; ``value`` is infinite (the set contains everything) if ``rank > m``.

    Guarantee: coverage at least ``1 - alpha`` on average over exchangeable calibration and test rows. Given the calibration rows (iid),
    coverage at least ``conditional_coverage(delta)`` with probability at least ``1 - delta`` (theory: :ref:`conformal`).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import conformal_quantile
    >>> found = conformal_quantile(np.arange(1.0, 100.0), alpha=0.1)
    >>> found.value, found.rank, found.m
    (90.0, 90, 99)
    >>> found.marginal_coverage, round(found.conditional_coverage(0.05), 4)
    (0.9, 0.8467)
    """

    value: float
    rank: int
    m: int
    alpha: float

    @property
    def marginal_coverage(self) -> float:
        """Average coverage: exactly this if all scores are distinct, at least this otherwise."""
        return min(1.0, self.rank / (self.m + 1))

    def conditional_coverage(self, delta: float = 0.05) -> float:
        """Return the coverage, given the calibration rows, that is exceeded with probability at least ``1 - delta``."""
        return 1.0 if self.rank > self.m else clopper_pearson_lower(self.rank, self.m, delta)

    def miscoverage(self, delta: float = 0.05) -> RiskBound:
        """Return the training-conditional statement as a risk bound."""
        check_delta("conformal", delta)
        return RiskBound(
            "conformal",
            0.0 if self.rank > self.m else clopper_pearson(self.m - self.rank, self.m, delta),
            delta,
            "probability that the set misses the truth, given the calibration rows",
            ("iid", "calibration_untouched"),
            inputs={"rank": self.rank, "m": self.m},
            terms={"marginal": 1.0 - self.marginal_coverage},
        )


def conformal_quantile(scores: Any, alpha: float = 0.1) -> ConformalQuantile:
    r"""Return the :math:`\lceil (m + 1)(1 - \alpha) \rceil`-th smallest of m calibration scores.

    Parameters
    ----------
    scores : array
        Scores of rows that were not used for training (absolute residuals, ``1 - p(true class)``); infinite ones are allowed.
    alpha : float in (0, 1)
        Allowed average miscoverage.

    Returns
    -------
    ConformalQuantile

    Examples
    --------
    >>> from surefit.bounds import conformal_quantile
    >>> conformal_quantile([0.3, 0.1, 0.2], alpha=0.2).value  # rank 4 of 3
    inf
    """
    ordered = _scores("conformal_quantile", scores)
    rank = conformal_rank(len(ordered), alpha)
    value = math.inf if rank > len(ordered) else float(ordered[rank - 1])
    return ConformalQuantile(value, rank, len(ordered), float(alpha))


def conformal_rank(n: int, alpha: float = 0.1, delta: float | None = None) -> int:
    r"""Return the rank of the score for coverage :math:`1 - \alpha` on average or, with ``delta``, given the calibration rows.

    A rank of ``n + 1`` means that the calibration set is too small and the prediction set contains everything.

    Examples
    --------
    >>> from surefit.bounds import conformal_rank
    >>> conformal_rank(200, 0.1), conformal_rank(200, 0.1, delta=0.05), conformal_rank(20, 0.1, delta=0.05)
    (181, 188, 21)
    """
    if not COUNT.allows(n):
        raise InvalidParameter("conformal_rank", "n", COUNT.words, n)
    if not 0 < alpha < 1:
        raise InvalidParameter("conformal_rank", "alpha", ALPHA, alpha)
    product = (n + 1) * (1 - alpha)
    nearest = round(product)  # (n + 1)(1 - alpha) is often an integer up to rounding
    rank = nearest if abs(product - nearest) < 1e-9 * max(1.0, product) else math.ceil(product)
    if delta is None:
        return max(rank, 1)
    check_delta("conformal_rank", delta)
    if clopper_pearson_lower(n, n, delta) < 1 - alpha:
        return n + 1
    low, high = 0, n  # rank 0 has no coverage, rank n has enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if clopper_pearson_lower(middle, n, delta) >= 1 - alpha else (middle, high)
    return high


def conformal_size(alpha: float, delta: float, slack: float) -> int:
    r"""Return the calibration size from which the marginal rank covers :math:`1 - \alpha - \text{slack}` given the calibration rows.

    The statement holds with probability at least ``1 - delta``, for the returned size and every larger one.

    Examples
    --------
    >>> from surefit.bounds import conformal_size
    >>> conformal_size(0.1, 0.05, 0.02)
    651
    """
    check_delta("conformal_size", delta)
    if not (0 < alpha < 1 and 0 < slack < 1 - alpha):
        raise InvalidParameter("conformal_size", "slack", "a number > 0 and < 1 - alpha", slack)

    def covered(m: int) -> bool:
        rank = (m + 1) * (1 - alpha)  # the rank used is this or the next integer, which covers more
        return betaincinv(rank, m + 1 - rank, delta) >= 1 - alpha - slack

    return least("conformal_size", covered, start=math.ceil(1 / alpha))


def conformal_p_value(scores: Any, new_score: float) -> float:
    r"""Return the p-value :math:`(1 + \#\{s_i \ge s\}) / (m + 1)` of a new score.

    For exchangeable scores it is stochastically at least as large as a uniform variable.

    Examples
    --------
    >>> from surefit.bounds import conformal_p_value
    >>> conformal_p_value([1.0, 2.0, 3.0], 2.5)
    0.5
    """
    ordered = _scores("conformal_p_value", scores)
    return (1 + int(np.sum(ordered >= new_score))) / (len(ordered) + 1)


def conformal_quantiles_by_class(scores: Any, labels: Any, alpha: float = 0.1) -> dict[str, Any]:
    """Return one quantile per class: coverage at least ``1 - alpha`` within every class.

    Examples
    --------
    >>> from surefit.bounds import conformal_quantiles_by_class
    >>> quantiles = conformal_quantiles_by_class([0.1, 0.4, 0.2, 0.9], ["a", "b", "a", "b"], alpha=0.5)
    >>> {label: quantile.value for label, quantile in quantiles.items()}
    {'a': 0.2, 'b': 0.9}
    """
    values, names = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if values.shape != names.shape:
        raise InvalidData(f"conformal_quantiles_by_class: {len(values)} scores but {len(names)} labels.")
    return {name.item(): conformal_quantile(values[names == name], alpha) for name in np.unique(names)}


def jackknife_plus(predictions: Any, residuals: Any, alpha: float = 0.1) -> tuple[float, float]:
    r"""Return the jackknife+ interval for one row from the n leave-one-out models.

    Guarantee: coverage at least :math:`1 - 2\alpha` on average over exchangeable rows (theory: :ref:`conformal`); there is no guarantee
    given the training rows.

    Parameters
    ----------
    predictions : array of shape (n,)
        Prediction of the row by the model without training row i.
    residuals : array of shape (n,)
        Absolute residual of training row i by that model.
    alpha : float in (0, 1)
        Half the allowed miscoverage.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import jackknife_plus
    >>> jackknife_plus(np.zeros(19), np.arange(1.0, 20.0), alpha=0.1)
    (-18.0, 18.0)
    """
    center, widths = np.asarray(predictions, dtype=np.float64), np.abs(np.asarray(residuals, dtype=np.float64))
    if center.ndim != 1 or center.shape != widths.shape or len(center) == 0:
        raise InvalidData("jackknife_plus: predictions and residuals must be two vectors of the same length.")
    rank = conformal_rank(len(center), alpha)
    if rank > len(center):
        return -math.inf, math.inf
    return -float(np.sort(widths - center)[rank - 1]), float(np.sort(widths + center)[rank - 1])


def _scores(who: str, scores: Any) -> np.ndarray:
    vector = np.asarray(scores, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0 or np.any(np.isnan(vector)):
        raise InvalidData(f"{who}: scores must be a non-empty vector without NaN; got shape {vector.shape}.")
    return np.sort(vector)
