"""Fitting of linear support vector machines: solve one problem per target and set the fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.estimator import warn_unless_converged
from surefit.core.threads import one_blas_thread
from surefit.core.validation import ANYTHING, BOOLEAN, COUNT, NON_NEGATIVE, NOTHING, POSITIVE, RANDOM_STATE, one_of
from surefit.losses import SquaredEpsilonInsensitive, SquaredHinge
from surefit.problems import pose
from surefit.solvers.dual_start import dual_start
from surefit.solvers.newton import Fit, ScalarScores, centered, minimize, subsample_start
from surefit.solvers.newton.few_rows import fit_few_rows
from surefit.solvers.newton.terms import SmoothedHinge, SmoothedTube
from surefit.solvers.smo.problem import best_offsets, regression

RULES = {
    "dual": one_of("auto") | BOOLEAN,
    "tol": NON_NEGATIVE,
    "C": POSITIVE,
    "fit_intercept": BOOLEAN,
    "intercept_scaling": POSITIVE,
    "verbose": ANYTHING,
    "random_state": RANDOM_STATE,
    "max_iter": COUNT,
    "warm_start": BOOLEAN,
    "max_time": NOTHING | POSITIVE,
}


def make_loss(name: str, epsilon: float, spread: float) -> Any:
    """Return the loss for the solver; kinks are smoothed over a band that initially covers the spread of the targets."""
    if name == "hinge":
        return SmoothedHinge(4.0)  # at the start, every row is in the band
    if name == "squared_hinge":
        return SquaredHinge()
    if name == "epsilon_insensitive":
        return SmoothedTube(float(epsilon), float(spread))
    return SquaredEpsilonInsensitive(float(epsilon))


def fit_columns(
    estimator,
    X,
    y,
    targets: list[np.ndarray],
    weights: np.ndarray,
    loss,
    penalty: tuple[float, float],
    start,
    level: float = 0.0,
) -> tuple[list[Fit], list[float]]:
    """Solve one problem per target, all with the same X, budget and tolerance relative to the best constant model.

    ``level`` is subtracted from numerical targets that are far from zero, and added to the fitted intercept.
    """
    reporter = progress_reporter(estimator, X, y)
    intercept, (l1, l2) = bool(estimator.fit_intercept), penalty
    frame = centered(X, intercept)
    rows = frame.rows
    fits: list[Fit] = []
    limits: list[float] = []
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        for k, target in enumerate(targets):
            scores = ScalarScores(loss, target - level if level else target, weights)
            limit = estimator.tol * _null_objective(scores, intercept)
            coef = offset = model = fit = None
            if start is not None:
                coef = start[0][k : k + 1]
                offset = frame.inward(coef, start[1][k : k + 1], level)
            elif l1 == 0.0:
                few = fit_few_rows(rows, scores, l2, intercept, limit, budget)
                first = few or dual_start(rows, scores, intercept, limit, budget)
                first = first or subsample_start(rows, scores, l1, l2, intercept, budget)
                known = first is not None and first.reason is Reason.CONVERGED and first.dual is not None
                if known or few is not None:
                    fit = first
                elif first is not None:
                    coef, offset, model = first.coef, first.intercept, first.model
                    if first.width:
                        scores.sharpen(first.width)
            if fit is None:
                fit = minimize(
                    rows, scores, l1, l2, intercept=intercept, tolerance=limit, budget=budget, coef=coef, offset=offset,
                    model=model,
                )  # fmt: skip
            if fit.dual is None:
                if fit.width:
                    scores.sharpen(fit.width)  # the width of the returned point, which need not be the last one
                fit = frame.with_rounding(frame.outward(fit, level), scores, l1, l2, limit, level)
            fits.append(fit)
            limits.append(limit)
    if reporter is not None:
        reporter.finish()
    return fits, limits


def _null_objective(scores: ScalarScores, intercept: bool) -> float:
    """Return the loss of the best constant, before smoothing."""
    loss, y, c = scores.loss, scores.y, scores.weights
    if isinstance(loss, SmoothedHinge):
        total = float(c.sum())
        up = float(c[y > 0.0].sum()) if intercept else 0.5 * total
        return 2.0 * min(up, total - up)
    if isinstance(loss, SmoothedTube):
        b = best_offsets(regression(y, c, loss.epsilon, intercept), y)[0]
        return float(c @ np.maximum(np.abs(y - b) - loss.epsilon, 0.0))
    Z = np.zeros((len(y), 1))
    return scores.value(Z + scores.best_shift(Z) if intercept else Z)


def record(estimator, X, y, sample_weight, fits: list[Fit], limits: list[float]) -> None:
    """Set the fitted attributes common to both machines, issue the certificate, and warn if a problem stopped early."""
    estimator.n_iter_ = int(max(fit.n_iter for fit in fits))
    history = [(s, i, g) for fit in fits for s, i, g in fit.history]
    estimator.history_ = np.array(history, dtype=np.float64).reshape(-1, 3)
    problem = pose(estimator, X, y, sample_weight)
    witness = {f"dual_{k}": -fit.dual for k, fit in enumerate(fits) if fit.dual is not None}
    witness["widths"] = np.array([fit.width for fit in fits])
    late = [fit for fit in fits if fit.reason is not Reason.CONVERGED]
    claims = [Claim("linear.gap", witness=witness)]
    estimator._issue(
        "A",
        claims + [Claim("linear.distance")] * (problem["penalty"]["l2"] > 0),
        problem=problem,
        model=("coef_", "intercept_"),
        sample=(X, y, sample_weight),
        run={
            "solver": "Newton's method on a smoothed primal, sharpened to the gap",
            "reason": str(late[0].reason if late else Reason.CONVERGED),
            "passes": estimator.n_iter_,
            "seconds": float(sum(fit.history[-1][0] for fit in fits if fit.history)),
        },
    )
    reason, gap = late[0].reason if late else Reason.CONVERGED, float(sum(fit.gap for fit in fits))
    warn_unless_converged(type(estimator).__name__, reason, gap, float(sum(limits)))
