"""From parameters to a logistic problem, and from its solution to fitted attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import warn_unless_converged
from surefit.core.threads import one_blas_thread
from surefit.linear.classifier_base import Labelled, read_labelled
from surefit.linear.logistic_claims import issue
from surefit.linear.logistic_penalty import Penalty, read_penalty
from surefit.linear.no_finite_mle import find_direction, record_direction, suspicious
from surefit.losses import Logistic
from surefit.solvers.newton import Centred, Fit, ScalarScores, SoftmaxScores, centred, minimise, subsample_start


class Problem(NamedTuple):
    """A logistic problem as the solver takes it, and how to read its answer."""

    scores: Any
    order: np.ndarray  # class of each score, the reference last
    reference: int | None  # position of the reference class

    def unpack(self, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts, one line a class (one line for two classes)."""
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


def make_problem(data: Labelled, C: float, reference: int | None) -> Problem:
    """Two classes have one score; more have one each, or one fewer with a reference class."""
    weights = data.weights * C
    K = len(data.classes)
    if K == 2:
        return Problem(ScalarScores(Logistic(), np.where(data.codes == 1, 1.0, -1.0), weights), np.array([1]), None)
    if reference is None:
        return Problem(SoftmaxScores(data.codes, K, weights), np.arange(K), None)
    order = np.array([k for k in range(K) if k != reference] + [reference])
    place = np.empty(K, dtype=np.int64)
    place[order] = np.arange(K)
    return Problem(SoftmaxScores(place[data.codes], K, weights, pinned=True), order, reference)


def read_reference(estimator, data: Labelled) -> int | None:
    """Return the position of the reference class; with two classes it is always the first."""
    if estimator.reference is None or len(data.classes) == 2:
        return None
    found = np.flatnonzero(data.classes == estimator.reference)
    if len(found) == 0:
        expected = f"None or one of the classes {data.classes.tolist()}"
        raise InvalidParameter(type(estimator).__name__, "reference", expected, estimator.reference)
    return int(found[0])


def null_objective(problem: Problem, n: int, intercept: bool) -> float:
    """Objective of the best constant model."""
    Z = np.zeros((n, problem.scores.n_scores))
    return problem.scores.value(Z + problem.scores.best_shift(Z) if intercept else Z)


def solve(
    frame: Centred,
    problem: Problem,
    penalty: Penalty,
    *,
    intercept: bool,
    tolerance: float,
    budget: Budget,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Fit:
    """Minimise, from a start if there is one, from a fit to fewer rows if that pays."""
    coef = offset = model = None
    if start is not None:
        coef, offset = problem.pack(*start)
        offset = frame.inward(coef, offset)
    elif not penalty.free:
        first = subsample_start(frame.rows, problem.scores, penalty.l1, penalty.l2, intercept, budget)
        if first is not None:
            coef, offset, model = first.coef, first.intercept, first.model
    watch = _separated(problem) if penalty.free else None
    fit = minimise(
        frame.rows, problem.scores, penalty.l1, penalty.l2, intercept=intercept, tolerance=tolerance, budget=budget,
        coef=coef, offset=offset, model=model, until_separated=watch,
    )  # fmt: skip
    return frame.outward(fit)


def fit_logistic(estimator, X, y, sample_weight) -> Any:
    """Solve the estimator's problem and set its fitted attributes and certificate. Returns the estimator."""
    penalty = read_penalty(estimator)
    before = (getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None))
    data = read_labelled(estimator, X, y, sample_weight)
    reference = read_reference(estimator, data)
    problem = make_problem(data, penalty.C, reference)
    start = _warm_start(estimator, before, data) if estimator.warm_start else None
    reporter = progress_reporter(estimator, data.X, data.y)
    intercept = bool(estimator.fit_intercept)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        frame = centred(data.X, intercept)
        null = null_objective(problem, data.X.shape[0], intercept)
        tolerance = estimator.tol * null
        fit = solve(frame, problem, penalty, intercept=intercept, tolerance=tolerance, budget=budget, start=start)
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


def record(estimator, data: Labelled, problem: Problem, penalty: Penalty, fit: Fit, null: float) -> Any:
    """Set fitted attributes and the certificate; warn if the solver stopped early."""
    W, b = problem.unpack(fit)
    if penalty.free and len(W) > 1 and problem.reference is None:
        W, b = W - W.mean(axis=0), b - b.mean()  # without a penalty only differences matter
    estimator.classes_ = data.classes
    estimator.coef_, estimator.intercept_ = np.ascontiguousarray(W), np.ascontiguousarray(b)
    estimator.n_iter_ = np.array([fit.n_iter], dtype=np.int32)
    estimator.dual_gap_ = float(fit.gap if fit.proved else fit.objective)
    estimator.history_ = np.array(fit.history, dtype=np.float64).reshape(-1, 3)
    estimator.no_finite_mle_ = False
    estimator.separation_ = None
    issue(estimator, data, problem, penalty, fit, tolerance=estimator.tol * null, null=null)
    warn_unless_converged(type(estimator).__name__, fit.reason, estimator.dual_gap_, estimator.tol * null)
    return estimator


def _warm_start(estimator, before, data: Labelled):
    W, b = before
    lines = 1 if len(data.classes) == 2 else len(data.classes)
    if W is None or W.shape != (lines, data.X.shape[1]) or not np.all(np.isfinite(W)):
        return None
    return np.array(W), np.broadcast_to(np.asarray(b, dtype=np.float64), (lines,)).copy()


def _separated(problem: Problem):
    """Return a test for scores that have every row strictly on its side."""
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
