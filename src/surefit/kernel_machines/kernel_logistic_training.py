"""Fitting of kernel logistic regression: solve the problems, set the fitted attributes, and state the claims."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.estimator import warn_unless_converged
from surefit.kernel_machines.kernel_inputs import gram_of
from surefit.kernel_machines.svm_inputs import Labels, Sample
from surefit.problems import pose
from surefit.solvers.kernel import logistic as kernel_logistic
from surefit.solvers.kernel import softmax as kernel_softmax


class Outcome(NamedTuple):
    """Joint solution of all problems: one row of coefficients per function, with the gap and the objective."""

    beta: np.ndarray
    b: np.ndarray
    gap: float
    objective: float
    squares: np.ndarray
    n_iter: int
    steps: int
    reason: Reason
    history: list[tuple[float, int, float]]


def solve_problems(estimator, sample: Sample, labels: Labels) -> Outcome:
    """Solve one problem for all classes, or one per class against the rest."""
    rows = np.flatnonzero(labels.weights > 0)
    c, codes = float(estimator.C) * labels.weights[rows], labels.codes[rows]
    K = gram_of(type(estimator).__name__, sample.kernel, sample.X)
    K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
    count = len(labels.classes)
    functions = 1 if count == 2 else count
    last = getattr(estimator, "dual_coef_", None) if estimator.warm_start else None
    last = None if last is None or last.shape != (functions, sample.X.shape[0]) else last[:, rows]
    options: dict[str, Any] = {"offset": bool(estimator.fit_intercept), "tol": float(estimator.tol)}
    reporter = progress_reporter(estimator, sample.X, sample.y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        if count > 2 and estimator.multi_class == "multinomial":
            start = None if last is None else last.T
            found = _of_all(kernel_softmax.minimize(K, codes, count, c, start=start, budget=budget, **options))
        else:
            found = _of_each(
                [
                    kernel_logistic.minimize(
                        K, np.where(codes == one, 1.0, -1.0), c, start=None if last is None else last[k],
                        budget=budget, **options,
                    )
                    for k, one in enumerate([1] if count == 2 else range(count))
                ]
            )  # fmt: skip
    if reporter is not None:
        reporter.finish()
    beta = np.zeros((functions, sample.X.shape[0]))
    beta[:, rows] = found.beta
    return found._replace(beta=beta)


def _of_all(fit: kernel_softmax.SoftmaxFit) -> Outcome:
    return Outcome(
        fit.beta.T, fit.b, fit.gap, fit.objective, fit.squares, fit.n_iter, fit.n_iter, fit.reason, fit.history
    )


def _of_each(fits: list[kernel_logistic.LogisticFit]) -> Outcome:
    late = [fit.reason for fit in fits if fit.reason is not Reason.CONVERGED]
    steps = [fit.n_iter for fit in fits]
    return Outcome(
        np.array([fit.beta for fit in fits]),
        np.array([fit.b for fit in fits]),
        float(sum(fit.gap for fit in fits)),
        float(sum(fit.objective for fit in fits)),
        np.array([fit.square for fit in fits]),
        max(steps),
        sum(steps),
        late[0] if late else Reason.CONVERGED,
        [line for fit in fits for line in fit.history],
    )


def record(estimator, sample: Sample, labels: Labels, found: Outcome):
    """Set the fitted attributes, issue the certificate, and warn if a problem stopped early."""
    estimator.classes_, estimator.X_fit_, estimator.kernel_ = labels.classes, sample.X, sample.kernel
    estimator.dual_coef_, estimator.intercept_ = found.beta, found.b
    estimator.objective_, estimator.n_iter_ = found.objective, found.n_iter
    estimator.rkhs_norm_ = np.sqrt(np.maximum(found.squares, 0.0))
    estimator.history_ = np.array(found.history).reshape(-1, 3)
    problem = pose(estimator, sample.X, sample.y, sample.sample_weight)
    joint = problem["loss"] == "softmax"
    name = "kernel_softmax" if joint else "kernel_logistic"
    estimator._issue(
        "A",
        [Claim(f"{name}.gap"), Claim(f"{name}.distance")],
        problem=problem,
        model=("dual_coef_", "intercept_"),
        sample=(sample.X, sample.y, sample.sample_weight),
        run={
            "solver": "Newton's method, one factorization per class"
            if joint
            else "Newton's method, each step a kernel ridge problem",
            "reason": str(found.reason),
            "passes": int(found.steps),
            "seconds": float(found.history[-1][0]),
        },
    )
    limit = float(estimator.tol * found.objective)
    warn_unless_converged(type(estimator).__name__, found.reason, found.gap, limit)
    return estimator
