"""Huber regression with a scale parameter: Newton's method by passes."""

from __future__ import annotations

from typing import Any

from surefit.cluster.fitting import trains
from surefit.cluster.training.least_squares import require_numbers
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidParameter
from surefit.core.partitioned import PartitionedRows
from surefit.solvers.huber_partitioned import minimize_huber


@trains("HuberRegressor")
def huber(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a Huber regression by two passes per Newton step; the mask of outliers is not computed."""
    require_numbers(estimator, rows)
    if estimator.alpha == 0:
        raise InvalidParameter("HuberRegressor", "alpha", "a number > 0 for rows in partitions", estimator.alpha)
    estimator.__dict__.pop("outliers_", None)  # of an earlier fit
    reporter = progress_reporter(estimator, rows, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        found = minimize_huber(
            rows, epsilon=float(estimator.epsilon), alpha=float(estimator.alpha), intercept=bool(estimator.fit_intercept),
            tol=float(estimator.tol), budget=budget, start=estimator._start(rows.shape[1]),
        )  # fmt: skip
    if reporter is not None:
        reporter.finish()
    return estimator._record(found, rows, *rows.outline, {})
