"""Multinomial logistic regression: Newton's method by passes, with one Hessian for the coefficients of all classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_class_weights, require_defaults
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.partitioned import PartitionedRows
from surefit.linear.linear_classifier import Labeled
from surefit.linear.logistic.penalty import Penalty
from surefit.linear.logistic.training import Problem, null_objective, record
from surefit.problems import pose
from surefit.solvers.newton import SoftmaxScores
from surefit.solvers.newton.partitioned import minimize_softmax


def fit_softmax(estimator: Any, rows: PartitionedRows, penalty: Penalty) -> Any:
    """Fit a multinomial logistic regression by two passes per Newton step."""
    require_defaults(estimator, penalty_factors=None)
    labels = require_class_weights(estimator, rows)
    y, weights = rows.outline
    problem = pose(estimator, rows, y, weights)
    assert rows.counts is not None
    class_weights = np.asarray(problem["class_weights"])
    codes = np.arange(len(labels))  # for constant scores, one row per class represents all rows
    few = SoftmaxScores(codes, len(labels), rows.counts * class_weights * problem["strength"])
    outline = Problem(few, codes, None)
    null = null_objective(outline, len(labels), bool(estimator.fit_intercept))
    reporter = progress_reporter(estimator, rows, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        fit = minimize_softmax(rows, problem, penalty.l1, penalty.l2, tolerance=estimator.tol * null, budget=budget)
    if reporter is not None:
        reporter.finish()
    data = Labeled(rows, y, codes, labels, weights, class_weights, few.weights)  # type: ignore[arg-type]
    return record(estimator, data, outline, penalty, fit, null)
