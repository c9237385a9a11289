"""Least squares, ridge, lasso and elastic net: one pass replaces the rows by a triangular factor with the same sums of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_defaults, trains
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import PartitionedRows
from surefit.linear.cross_validation import folds_of_partitions
from surefit.linear.lasso.training import fit_rows, usable_target
from surefit.linear.least_squares.training import partitioned_targets
from surefit.linear.ridge.regressor import fit_ridge
from surefit.solvers.least_squares.partitioned import compress


@trains("LinearRegression")
def linear_regression(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit least squares by one pass, and one more to bound the rounding of the residuals."""
    require_defaults(estimator, positive=False)
    require_numbers(estimator, rows)
    return estimator._fit(partitioned_targets(rows))


@trains("Ridge")
def ridge(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a ridge regression by one pass."""
    require_defaults(estimator, radius=None, penalty_factors=None, penalize_intercept=False)
    require_numbers(estimator, rows)
    return fit_ridge(estimator, partitioned_targets(rows))


@trains("Lasso", "ElasticNet")
def lasso(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a lasso or elastic net by one pass; coordinate descent runs on the client."""
    require_defaults(estimator, radius=None)
    require_numbers(estimator, rows)
    return fit_rows(estimator, rows, *rows.outline, float(getattr(estimator, "l1_ratio", 1.0)))


@trains("RidgeCV")
def ridge_cv(estimator: Any, rows: PartitionedRows) -> Any:
    """Choose the penalty by leave-one-out or generalized cross-validation: two passes, and one for the fit."""
    require_defaults(estimator, scoring=None, cv=None, store_cv_results=False)
    require_numbers(estimator, rows)
    return estimator._fit(partitioned_targets(rows), {}, {})


@trains("LassoCV", "ElasticNetCV")
def lasso_cv(estimator: Any, rows: PartitionedRows) -> Any:
    """Choose the penalty by cross-validation with consecutive folds: one pass for the folds, and one for all rows."""
    if not (estimator.cv is None or isinstance(estimator.cv, int)):
        raise InvalidParameter(
            type(estimator).__name__, "cv", "None or a number of folds for rows in partitions", estimator.cv
        )
    require_numbers(estimator, rows)
    free = bool(estimator.fit_intercept)
    few = compress(rows, free)

    def finish(solution: Any) -> Any:
        return solution._replace(intercept=float(few.intercepts(solution.coef)[0]))

    ratios = [float(ratio) for ratio in np.atleast_1d(getattr(estimator, "l1_ratio", 1.0))]
    folds = folds_of_partitions(rows, estimator.cv or 5, free)
    return estimator._choose(rows, *rows.outline, folds, ratios, finish)


def require_numbers(estimator: Any, rows: PartitionedRows) -> None:
    """Raise ``InvalidData`` for targets that are not numbers or whose squares overflow."""
    who = type(estimator).__name__
    if not rows.largest_target >= rows.smallest_target:
        raise InvalidData(f"{who}: y must be numbers.")
    usable_target(who, np.array([rows.smallest_target, rows.largest_target]))


def require_one_number(estimator: Any, rows: PartitionedRows) -> None:
    """Raise ``InvalidData`` unless the target is one number per row."""
    require_numbers(estimator, rows)
    if rows.target_shape is None or len(rows.target_shape) > 1:
        raise InvalidData(
            f"{type(estimator).__name__}: y must be one number per row in partitions; its shape is {rows.target_shape}."
        )
