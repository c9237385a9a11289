"""Logistic regression by one-versus-rest problems, or with a penalized intercept."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidParameter
from surefit.core.threads import one_blas_thread
from surefit.linear.linear_classifier import Labeled, read_labeled
from surefit.linear.logistic.penalty import Penalty
from surefit.linear.logistic.training import Problem, make_problem, null_objective, read_reference, record, solve
from surefit.solvers.newton import Fit, centered


class Stacked(NamedTuple):
    """Problem interface for fits whose coefficients and intercepts need no unpacking."""

    reference: int | None = None

    def unpack(self, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts."""
        return fit.coef, fit.intercept


def is_variant(estimator) -> bool:
    """Whether ``estimator`` uses one-versus-rest problems or a penalized intercept."""
    return getattr(estimator, "multi_class", "multinomial") == "ovr" or getattr(estimator, "penalize_intercept", False)


def fit_variant(estimator, X, y, sample_weight, penalty: Penalty) -> Any:
    """Fit one problem per class or one joint problem; a penalized intercept is the coefficient of a constant column."""
    who, options = type(estimator).__name__, "multi_class='ovr' or penalize_intercept=True"
    if penalty.free:
        raise InvalidParameter(who, "C", f"finite with {options}", estimator.C)
    if estimator.penalty_factors is not None:
        raise InvalidParameter(who, "penalty_factors", f"None with {options}", estimator.penalty_factors)
    data = read_labeled(estimator, X, y, sample_weight)
    penalized = bool(estimator.penalize_intercept and estimator.fit_intercept)
    intercept = bool(estimator.fit_intercept) and not penalized
    frame = centered(_with_constant(data.X) if penalized else data.X, intercept)
    reporter, begun = progress_reporter(estimator, data.X, data.y), time.monotonic()
    solved: list[tuple[Problem, Fit]] = []
    null = 0.0
    for problem in _problems(estimator, data, penalty):
        left = None if estimator.max_time is None else max(estimator.max_time - (time.monotonic() - begun), 1e-3)
        with Budget(estimator.max_iter, left, reporter) as budget, one_blas_thread():
            own = null_objective(problem, data.X.shape[0], intercept)
            tolerance = estimator.tol * own
            fit = solve(frame, problem, penalty, intercept=intercept, tolerance=tolerance, budget=budget)
            solved.append((problem, frame.with_rounding(fit, problem.scores, penalty.l1, penalty.l2, tolerance)))
            null += own
    if reporter is not None:
        reporter.finish()
    return record(estimator, data, Stacked(), penalty, _stacked(solved, penalized), null)


def _problems(estimator, data: Labeled, penalty: Penalty) -> list[Problem]:
    if estimator.multi_class != "ovr" or len(data.classes) == 2:
        return [make_problem(data, penalty.C, read_reference(estimator, data))]
    if estimator.reference is not None:
        raise InvalidParameter(
            type(estimator).__name__, "reference", "None with multi_class='ovr'", estimator.reference
        )
    two = np.array([0.0, 1.0])
    return [
        make_problem(data._replace(codes=(data.codes == k).astype(np.int64), classes=two), penalty.C, None)
        for k in range(len(data.classes))
    ]


def _with_constant(X):
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def _stacked(solved: list[tuple[Problem, Fit]], penalized: bool) -> Fit:
    parts = [problem.unpack(fit) for problem, fit in solved]
    W, b = np.vstack([W for W, _ in parts]), np.concatenate([b for _, b in parts])
    if penalized:
        W, b = W[:, :-1], W[:, -1]
    fits = [fit for _, fit in solved]
    reason = next((fit.reason for fit in fits if fit.reason is not Reason.CONVERGED), Reason.CONVERGED)
    history = [line for fit in fits for line in fit.history]
    gap, objective = sum(fit.gap for fit in fits), sum(fit.objective for fit in fits)
    return Fit(W, b, gap, objective, max(fit.n_iter for fit in fits), reason, history, 0.0, False, None)
