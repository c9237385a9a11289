"""Fitting of logistic regression: build the problem from the parameters, solve it, and set the fitted attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import warn_unless_converged
from surefit.core.threads import threads_instead_of_blas
from surefit.linear.lasso.training import read_factors
from surefit.linear.linear_classifier import Labeled, read_labeled
from surefit.linear.logistic.no_finite_mle import find_direction, record_direction, suspicious
from surefit.linear.logistic.penalty import Penalty, read_penalty
from surefit.linear.logistic.statement import issue, issue_average
from surefit.linear.penalty_factors import rescaled
from surefit.losses import Logistic
from surefit.problems.labels import indicators
from surefit.solvers.barrier import PenaltyTerms
from surefit.solvers.barrier import minimize as minimize_any
from surefit.solvers.newton import Centered, Fit, LogisticScores, SoftmaxScores, centered, minimize, subsample_start
from surefit.solvers.newton.few_rows import fit_few_rows

LAST_STEPS = 8
FEW_ROWS = 1_000  # number of rows up to which compiled steps are faster than vectorized exponentials


class Problem(NamedTuple):
    """Logistic problem in the form that the solver expects, with conversions of its solution."""

    scores: Any
    order: np.ndarray  # class of each score, with the reference class last
    reference: int | None  # index of the reference class

    def unpack(self, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts, one row per class (a single row for two classes)."""
        if self.scores.n_scores == 1 and self.reference is None:
            return fit.coef, fit.intercept
        K = self.scores.n_classes
        W, b = np.zeros((K, fit.coef.shape[1])), np.zeros(K)
        W[self.order[: len(fit.coef)]] = fit.coef
        b[self.order[: len(fit.coef)]] = fit.intercept
        return W, b

    def pack(self, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Invert :meth:`unpack`."""
        if self.scores.n_scores == 1 and self.reference is None:
            return W, b
        used = self.order[: self.scores.n_scores]
        return W[used], b[used]


def make_problem(data: Labeled, C: float, reference: int | None) -> Problem:
    """Build the problem: one score for two classes, else one per class, or one fewer with a reference class."""
    weights = data.scaled(C)
    K = len(data.classes)
    if K == 2:
        return Problem(LogisticScores(indicators(data.codes, 1), weights), np.array([1]), None)
    if reference is None:
        return Problem(SoftmaxScores(data.codes, K, weights), np.arange(K), None)
    order = np.array([k for k in range(K) if k != reference] + [reference])
    place = np.empty(K, dtype=np.int64)
    place[order] = np.arange(K)
    return Problem(SoftmaxScores(place[data.codes], K, weights, pinned=True), order, reference)


def read_reference(estimator, data: Labeled) -> int | None:
    """Return the index of the reference class, or None if there is none."""
    if estimator.reference is None or len(data.classes) == 2:
        return None
    found = np.flatnonzero(data.classes == estimator.reference)
    if len(found) == 0:
        expected = f"None or one of the classes {data.classes.tolist()}"
        raise InvalidParameter(type(estimator).__name__, "reference", expected, estimator.reference)
    return int(found[0])


def null_objective(problem: Problem, n: int, intercept: bool) -> float:
    """Return the objective of the best constant model."""
    Z = np.zeros((n, problem.scores.n_scores))
    return problem.scores.value(Z + problem.scores.best_shift(Z) if intercept else Z)


def solve(
    frame: Centered,
    problem: Problem,
    penalty: Penalty,
    *,
    intercept: bool,
    tolerance: float,
    budget: Budget,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Fit:
    """Minimize from the given starting point, or from a fit to a subsample of the rows if that is faster."""
    coef = offset = model = None
    if start is not None:
        coef, offset = problem.pack(*start)
        offset = frame.inward(coef, offset)
    elif not penalty.free:
        if penalty.l1 == 0.0 and problem.scores.n_scores == 1 and frame.rows.shape[0] <= FEW_ROWS:
            few = fit_few_rows(frame.rows, problem.scores, penalty.l2, intercept, tolerance, budget)
            if few is not None:
                return frame.outward(few)
        first = subsample_start(frame.rows, problem.scores, penalty.l1, penalty.l2, intercept, budget)
        if first is not None:
            coef, offset, model = first.coef, first.intercept, first.model
    watch = _separated(problem) if penalty.free else None
    fit = minimize(
        frame.rows, problem.scores, penalty.l1, penalty.l2, intercept=intercept, tolerance=tolerance, budget=budget,
        coef=coef, offset=offset, model=model, until_separated=watch,
    )  # fmt: skip
    return frame.outward(fit)


def fit_logistic(estimator, X, y, sample_weight) -> Any:
    """Solve the estimator's problem and set its fitted attributes and certificate. Returns the estimator."""
    penalty = read_penalty(estimator)
    if getattr(estimator, "penalty_factors", None) is not None:
        return fit_with_factors(estimator, X, y, sample_weight, penalty)
    before = (getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None))
    data = read_labeled(estimator, X, y, sample_weight)
    reference = read_reference(estimator, data)
    problem = make_problem(data, penalty.C, reference)
    start = _warm_start(estimator, before, data) if estimator.warm_start else None
    reporter = progress_reporter(estimator, data.X, data.y)
    intercept = bool(estimator.fit_intercept)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, threads_instead_of_blas():
        frame = centered(data.X, intercept)
        null = null_objective(problem, data.X.shape[0], intercept)
        tolerance = estimator.tol * null
        fit = solve(frame, problem, penalty, intercept=intercept, tolerance=tolerance, budget=budget, start=start)
        if penalty.free and fit.reason is Reason.CONVERGED and not fit.separated:
            fit = _polished(fit, frame, problem, penalty, intercept, null)
        fit = frame.with_rounding(fit, problem.scores, penalty.l1, penalty.l2, tolerance)
        direction = None
        if penalty.free and (
            fit.separated or fit.reason is not Reason.CONVERGED or suspicious(frame, problem.scores, fit)
        ):
            direction = find_direction(data, intercept, problem, fit, budget)
    if reporter is not None:
        reporter.finish()
    if direction is not None:
        return record_direction(estimator, data, direction, fit, reference)
    return record(estimator, data, problem, penalty, fit, null)


def fit_with_factors(estimator, X, y, sample_weight, penalty: Penalty) -> Any:
    """Fit with penalty factors: on rescaled columns, or, for two classes, by an interior-point method."""
    who, given = type(estimator).__name__, estimator.penalty_factors
    if penalty.free:
        raise InvalidParameter(who, "penalty_factors", "None with C=inf, where nothing is penalized", given)
    before = (getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None))
    data = read_labeled(estimator, X, y, sample_weight)
    factors = read_factors(estimator, data.X.shape[1])
    assert factors is not None
    penalty = penalty._replace(factors=factors)
    simple = bool(np.all(factors > 0)) and (penalty.l1 == 0.0 or penalty.l2 == 0.0)
    if not simple and len(data.classes) > 2:
        expected = "numbers > 0 with more than two classes, and l1_ratio 0 or 1"
        raise InvalidParameter(who, "penalty_factors", expected, given)
    problem = make_problem(data, penalty.C, read_reference(estimator, data))
    null = null_objective(problem, data.X.shape[0], bool(estimator.fit_intercept))
    start = _warm_start(estimator, before, data) if estimator.warm_start else None
    reporter = progress_reporter(estimator, data.X, data.y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, threads_instead_of_blas():
        solver = _on_rescaled_columns if simple else _by_interior_points
        fit = solver(data, problem, penalty, bool(estimator.fit_intercept), estimator.tol, null, budget, start)
    if reporter is not None:
        reporter.finish()
    return record(estimator, data, problem, penalty, fit, null)


def _on_rescaled_columns(data, problem, penalty: Penalty, intercept, tol, null, budget, start) -> Fit:
    assert penalty.factors is not None
    columns = rescaled(data.X, penalty.factors, 0.5 if penalty.l1 == 0.0 else 1.0)
    frame = centered(columns.X, intercept)
    start = None if start is None else (columns.inward(start[0]), start[1])
    fit = solve(frame, problem, penalty, intercept=intercept, tolerance=tol * null, budget=budget, start=start)
    return fit._replace(coef=columns.outward(fit.coef))


def _by_interior_points(data, problem, penalty: Penalty, intercept, tol, null, budget, start) -> Fit:
    assert penalty.factors is not None
    excluded = np.isinf(penalty.factors)
    finite = np.where(excluded, 0.0, penalty.factors)
    terms = PenaltyTerms(np.where(excluded, np.inf, finite * penalty.l1), finite * penalty.l2, False, None)
    scores = problem.scores
    found = minimize_any(
        data.X, scores.y, scores.weights, Logistic(), terms, intercept=intercept, tol=tol, budget=budget,
        start=None if start is None else (start[0][0], float(start[1][0])),
    )  # fmt: skip
    return Fit(
        found.coef[None], np.array([found.intercept]), found.gap, found.objective, found.n_iter, found.reason,
        found.history, 0.0, False, None,
    )  # fmt: skip


def _polished(fit: Fit, frame: Centered, problem: Problem, penalty: Penalty, intercept: bool, null: float) -> Fit:
    """Take a few more Newton steps for accurate coefficients and standard errors of unpenalized fits."""
    start = problem.unpack(fit)
    with Budget(LAST_STEPS, None, None) as budget:
        closer = solve(
            frame, problem, penalty, intercept=intercept, tolerance=1e-16 * null, budget=budget, start=start
        )  # fmt: skip
    if not closer.gap <= fit.gap or closer.separated:
        return fit
    return closer._replace(
        reason=fit.reason, n_iter=fit.n_iter + closer.n_iter, history=[*fit.history, *closer.history]
    )


def record(estimator, data: Labeled, problem: Any, penalty: Penalty, fit: Fit, null: float) -> Any:
    """Set fitted attributes and the certificate; warn if the solver stopped early."""
    W, b = problem.unpack(fit)
    if penalty.free and len(W) > 1 and problem.reference is None:
        W, b = W - W.mean(axis=0), b - b.mean()  # without a penalty only differences matter
    estimator.classes_ = data.classes
    estimator.coef_, estimator.intercept_ = np.ascontiguousarray(W), np.ascontiguousarray(b)
    estimator.n_iter_ = np.array([fit.n_iter], dtype=np.int32)
    estimator.history_ = np.array(fit.history, dtype=np.float64).reshape(-1, 3)
    estimator.no_finite_mle_ = False
    estimator.separation_ = None
    issue(estimator, data, penalty, fit)
    gap = float(fit.gap if fit.proved else fit.objective)
    warn_unless_converged(type(estimator).__name__, fit.reason, gap, estimator.tol * null)
    return estimator


def record_average(estimator, data: Labeled, W: np.ndarray, b: np.ndarray) -> Any:
    """Set the fitted attributes from coefficients averaged over several fits; no gap is stated."""
    estimator.classes_ = data.classes
    estimator.coef_, estimator.intercept_ = np.ascontiguousarray(W), np.ascontiguousarray(b)
    estimator.n_iter_ = np.zeros(1, dtype=np.int32)
    estimator.history_ = np.zeros((0, 3))
    estimator.no_finite_mle_, estimator.separation_ = False, None
    issue_average(estimator, data)
    return estimator


def _warm_start(estimator, before, data: Labeled):
    W, b = before
    lines = 1 if len(data.classes) == 2 else len(data.classes)
    if W is None or W.shape != (lines, data.X.shape[1]) or not np.all(np.isfinite(W)):
        return None
    return np.array(W), np.broadcast_to(np.asarray(b, dtype=np.float64), (lines,)).copy()


def _separated(problem: Problem):
    """Return a predicate that is true if the scores classify every row correctly with a positive margin."""
    scores = problem.scores
    used = scores.weights > 0
    if scores.n_scores == 1 and problem.reference is None:
        y = scores.y[used]
        return lambda Z: bool(np.all(y * Z[used, 0] > 0))
    codes = scores.codes[used]

    def test(Z):
        F = Z[used] if not scores.pinned else np.column_stack([Z[used], np.zeros(len(codes))])
        own = F[np.arange(len(codes)), codes]
        rest = F.copy()
        rest[np.arange(len(codes)), codes] = -np.inf
        return bool(np.all(own > rest.max(axis=1)))

    return test
