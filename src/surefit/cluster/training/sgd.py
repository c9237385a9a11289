"""Stochastic gradient descent, one partition after another; an interior-point method finds the dual points of the certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefit.cluster.fitting import require_class_weights, require_defaults, trains
from surefit.cluster.training.composed import solve_targets
from surefit.cluster.training.least_squares import require_numbers
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.partitioned import PartitionedRows, PassStopped
from surefit.linear.sgd.rules import starting_point, take_points
from surefit.linear.sgd.training import Course, Plan, issue, read_plan, warn_if_stopped
from surefit.losses import PerceptronLoss
from surefit.problems import pose
from surefit.solvers.sgd.partitioned import Setting, State, advance, partition_order, weigh
from surefit.solvers.sgd.passes import Walk

LOOSE = 1e-4  # relative gap of the dual points
MOST_STEPS = 60  # largest number of Newton steps for the dual points


@trains("SGDClassifier", "SGDRegressor")
def sgd(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit by sequential passes; the certificate needs further passes of an interior-point method."""
    require_defaults(estimator, early_stopping=False)
    chosen = ("classes_",) if hasattr(estimator, "class_weight") else ()
    before = (getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None))
    lines = 1
    if chosen:
        estimator.classes_ = require_class_weights(estimator, rows)
        lines = 1 if len(estimator.classes_) == 2 else len(estimator.classes_)
    else:
        require_numbers(estimator, rows)
    y, weights = rows.outline
    plan, problem = read_plan(estimator), pose(estimator, rows, y, weights, *chosen)
    W, b = starting_point(
        estimator, (None, None), before if estimator.warm_start else (None, None), (lines, rows.shape[1])
    )
    walks = [Walk(W[k], float(b[k]), plan.average, plan.l1) for k in range(lines)]
    results = _descend(estimator, rows, plan, problem, walks)
    estimator.coef_, estimator.intercept_ = take_points(estimator, walks)
    if not chosen:
        estimator.coef_ = estimator.coef_[0]
    witness: dict[str, Any] = {}
    if not isinstance(plan.loss, PerceptronLoss) and plan.l1 + plan.l2 > 0:
        with Budget(MOST_STEPS, None) as budget:
            witness = solve_targets(rows, problem, plan.loss, LOOSE, budget)[1]
    issue(estimator, (rows, y, weights), plan, problem, results, witness)
    warn_if_stopped(estimator, results)
    return estimator


def _descend(
    estimator: Any, rows: PartitionedRows, plan: Plan, problem: dict[str, Any], walks: list[Walk]
) -> list[Any]:
    """Run the passes of all problems together until each has stopped; return (passes, reason, history) of each."""
    shuffle, weights = bool(estimator.shuffle), weigh(rows)
    setting = Setting(
        problem, plan.loss, (plan.l1, plan.l2), bool(estimator.fit_intercept), plan.average, shuffle, weights
    )
    seeds = check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max, size=len(walks)).tolist()
    courses = [Course(estimator, True) for _ in walks]
    reasons: list[Reason | None] = [None] * len(walks)
    reporter = progress_reporter(estimator, rows, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        rows.budget, n_iter = budget, 0
        try:
            while active := [k for k, reason in enumerate(reasons) if reason is None]:
                order = partition_order(rows, [*seeds, n_iter] if shuffle else None)
                states = [State(k, walks[k].state, 0.0) for k in active]
                drawn, rules = [[seeds[k], n_iter] for k in active], [courses[k].rule for k in active]
                for state in rows.fold(advance, states, setting, rules, drawn, order=order):
                    k, walks[state.number] = state.number, Walk.resume(state.walk, plan.average, plan.l1)
                    worth = state.total / weights.visits + plan.penalty(walks[k].w)
                    reasons[k] = courses[k].after(walks[k], worth, budget)
                n_iter += 1
        except PassStopped as stop:  # stopped during a pass: keep the state before it
            for k, course in enumerate(courses):
                course.history = course.history or [(budget.seconds, 0.0, math.inf)]
                reasons[k] = reasons[k] or stop.reason
        finally:
            rows.budget = None
    if reporter is not None:
        reporter.finish()
    return [(course.n_iter, reason, course.history) for course, reason in zip(courses, reasons, strict=True)]
