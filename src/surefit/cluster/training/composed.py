"""Linear models with one score per problem and any convex loss: an interior-point method with two passes per Newton step."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_defaults, trains
from surefit.cluster.training.least_squares import require_numbers
from surefit.cluster.training.softmax import fit_softmax
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData
from surefit.core.partitioned import PartitionedRows
from surefit.linear.composed import check_factors, record, terms_of
from surefit.linear.logistic.penalty import read_penalty
from surefit.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Pinball,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    is_margin_loss,
)
from surefit.problems import pose
from surefit.problems.composed import LOG_LINK, Rows
from surefit.problems.partitioned import row_targets
from surefit.problems.terms import loss_term
from surefit.solvers.barrier.partitioned import minimize_partitioned


def fit_partitioned(estimator: Any, rows: PartitionedRows, loss: Any) -> Any:
    """Solve the problems of ``estimator`` one after another, and issue its certificate."""
    problem = pose(estimator, rows, *rows.outline)
    _require_target(estimator, rows, problem)
    check_factors(estimator, problem, rows.shape[1])
    reporter = progress_reporter(estimator, rows, None)
    with Budget(getattr(estimator, "max_iter", None), getattr(estimator, "max_time", None), reporter) as budget:
        results, witness = solve_targets(rows, problem, loss, problem["tol"], budget)
        terms = terms_of(problem, rows.shape[1])
        if "barriers" not in witness and not np.any(terms.l1 > 0) and not terms.positive:
            witness = {}  # the derivatives at the model itself are the dual point
    if reporter is not None:
        reporter.finish()
    y, weights = rows.outline
    read = Rows(rows, y, weights, [], np.zeros(0), rows.labels if problem["classes"] is not None else None)  # type: ignore[arg-type]
    return record(estimator, read, problem, results, witness)


def solve_targets(
    rows: PartitionedRows, problem: dict[str, Any], loss: Any, tol: float, budget: Budget
) -> tuple[list[Any], dict[str, Any]]:
    """Solve the problem of each target or class; return the results, and the arrays that define their dual points, by name."""
    terms, results, found = terms_of(problem, rows.shape[1]), [], []
    for target in row_targets(problem, rows):
        result, at = minimize_partitioned(
            rows, target, loss, terms, intercept=problem["fit_intercept"], tol=tol, budget=budget
        )
        results.append(result)
        found.append(at)
    witness = {
        f"{name}_{k}": at[name]
        for k, at in enumerate(found)
        for name in ("point", "step", "rows", "slopes")
        if name in at
    }
    if any("barrier" in at for at in found):
        witness["barriers"] = np.array([at.get("barrier", 0.0) for at in found])
    return results, witness


def _require_target(estimator: Any, rows: PartitionedRows, problem: dict) -> None:
    if problem["classes"] is not None:
        return
    require_numbers(estimator, rows)
    if problem["loss"] in LOG_LINK:
        positive = problem.get("power") == 2.0
        if rows.smallest_target < 0 or (positive and rows.smallest_target == 0):
            raise InvalidData(
                f"{type(estimator).__name__}: Some value(s) of y are out of the valid range; targets must be "
                f"{'> 0' if positive else '>= 0'}, got {rows.smallest_target!r}."
            )


@trains("LinearModel")
def linear_model(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a linear model with any loss and any penalty except a radius."""
    loss = loss_term(estimator.loss, type(estimator).__name__)
    if is_margin_loss(loss) and (rows.labels is None or len(rows.labels) < 2):
        raise InvalidData("LinearModel: a loss of labels needs rows of at least two classes.")
    return fit_partitioned(estimator, rows, loss)


@trains("QuantileRegressor")
def quantile(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a quantile regression."""
    return fit_partitioned(estimator, rows, Pinball(float(estimator.quantile)))


@trains("PoissonRegressor", "GammaRegressor", "TweedieRegressor")
def deviance(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a regression that minimizes half the mean deviance."""
    return fit_partitioned(estimator, rows, estimator._loss())


@trains("RidgeClassifier")
def ridge_classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a ridge classifier by least squares on labels."""
    return fit_partitioned(estimator, rows, Squared())


@trains("LinearSVC")
def svc(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a linear support vector machine."""
    return fit_partitioned(estimator, rows, Hinge() if estimator.loss == "hinge" else SquaredHinge())


@trains("LinearSVR")
def svr(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a linear support vector regression."""
    loss = EpsilonInsensitive if estimator.loss == "epsilon_insensitive" else SquaredEpsilonInsensitive
    return fit_partitioned(estimator, rows, loss(float(estimator.epsilon)))


@trains("LogisticRegression")
def logistic(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a logistic regression: binary, one-vs-rest, or softmax."""
    require_defaults(estimator, penalize_intercept=False, reference=None)
    assert rows.labels is not None
    penalty = read_penalty(estimator)
    if penalty.free:
        raise InvalidData(
            "LogisticRegression: without a penalty, separability can be detected only for rows in memory; set C below infinity."
        )
    if len(rows.labels) > 2 and getattr(estimator, "multi_class", None) != "ovr":
        return fit_softmax(estimator, rows, penalty)
    fit_partitioned(estimator, rows, Logistic())
    estimator.n_iter_ = np.array([estimator.n_iter_], dtype=np.int32)
    estimator.no_finite_mle_, estimator.separation_ = False, None
    return estimator
