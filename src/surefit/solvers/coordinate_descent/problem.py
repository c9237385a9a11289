"""Data of penalized least squares for the solver: centered, weighted, with columns of length one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import require
from surefit.core.errors import InvalidData
from surefit.core.jit import compiled
from surefit.operators import column_statistics, dimensions
from surefit.penalties import ElasticTerms, elastic_terms

SMALLEST_NORM = 1e-150  # a shorter column cannot be squared; it counts as constant


class Prepared(NamedTuple):
    """Least-squares problem, ready to be solved for any number of penalties. It is immutable."""

    design: Any
    y: np.ndarray  # centered
    y_mean: float
    weights: np.ndarray  # sum to one
    means: np.ndarray  # of the columns; zero without an intercept
    norms: np.ndarray  # root mean squares of the centered columns; zero for constant ones
    scales: np.ndarray  # 1 / norms, zero for constant columns
    products: np.ndarray  # mean products of y with the columns at length one
    null_objective: float


def prepare(design, y: np.ndarray, weights: np.ndarray | None, fit_intercept: bool) -> Prepared:
    """Read the data once: means, norms, products with ``y``, objective of the best constant.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.operators import as_design
    >>> from surefit.solvers.coordinate_descent import prepare
    >>> prepared = prepare(as_design(np.array([[-1.0], [0.0], [1.0]])), np.array([-2.0, 0.0, 2.0]), None, True)
    >>> round(prepared.null_objective, 6)
    1.333333
    """
    n_rows, _ = dimensions(design)
    y = np.asarray(y, dtype=np.float64)
    shares = np.full(n_rows, 1.0 / n_rows) if weights is None else weights / np.sum(weights)
    y_mean = float(y[0] + shares @ (y - y[0])) if fit_intercept else 0.0  # exact if y is constant
    y = y - y_mean
    means, norms, products = column_statistics(design, y, shares, bool(fit_intercept))
    _require_finite(norms)
    norms = np.where(norms > SMALLEST_NORM, norms, 0.0)
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    null_objective = 0.5 * mean_square(shares, y)
    return Prepared(design, y, y_mean, shares, means, norms, scales, products * scales, null_objective)


@compiled
def mean_square(weights, values):
    """Return ``sum(weights * values**2)``, without temporary arrays."""
    total = 0.0
    for i in range(len(values)):
        total += weights[i] * values[i] * values[i]
    return total


def _require_finite(norms: np.ndarray) -> None:
    broken = (~np.isfinite(norms)).nonzero()[0]
    if len(broken):
        raise InvalidData(
            f"X: the squares of column {broken[0]} overflow or are not numbers; "
            "divide the column by its largest absolute value and fit again."
        )


def unit_terms(prepared: Prepared, penalty) -> ElasticTerms:
    """Return the penalty for columns of length one: the coefficient of such a column is ``norms[j] * w[j]``."""
    require(penalty, elastic_terms)
    terms = elastic_terms(penalty, len(prepared.norms))
    constant = prepared.norms == 0.0
    slopes = np.where(constant, np.inf, terms.slopes * np.where(constant, 1.0, prepared.scales))
    curvatures = np.minimum(terms.curvatures * prepared.scales**2, 1e300)
    return ElasticTerms(slopes, curvatures, bool(terms.positive))
