"""Solver for losses with a log link: Newton's method for a pure l2 penalty, otherwise the interior-point method."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.losses import Poisson, Tweedie
from surefit.solvers import newton
from surefit.solvers.barrier import PenaltyTerms, Result, minimize

SURE = 0.1  # fraction of the tolerance to reach, as a margin for the rounding of the proof
AIM = 1e-4  # fraction of the tolerance that is the target of Newton's method, whose last step doubles the number of correct digits


def solved(X, y, c, loss, penalty: PenaltyTerms, *, intercept: bool, tol: float, budget: Budget, start=None) -> Result:
    """Minimize ``sum_i c_i loss(y_i, x_i'w + b) + penalty(w)`` to a gap of ``tol`` times the objective of the best constant."""
    if type(loss) in (Poisson, Tweedie) and _only_l2(penalty):
        found = _by_newton(X, y, c, loss, float(penalty.l2[0]), intercept, tol, budget, start)
        if found is not None:
            return found
    return minimize(X, y, c, loss, penalty, intercept=intercept, tol=tol, budget=budget, start=start)


def _only_l2(penalty: PenaltyTerms) -> bool:
    l2 = penalty.l2
    plain = not penalty.positive and penalty.radius is None and not penalty.l1.any()
    return plain and bool(l2[0] > 0.0) and bool(np.all(l2 == l2[0]))


def _by_newton(X, y, c, loss, l2: float, intercept: bool, tol: float, budget: Budget, start) -> Result | None:
    """Return the minimum, or None if rounding stops Newton's method too early or no finite constant is optimal."""
    if not c.all():
        X, y, c = X[c > 0.0], y[c > 0.0], c[c > 0.0]
    scores = newton.ExponentialScores(loss, y, c)
    zero = np.zeros((len(y), 1))
    shift = scores.best_shift(zero) if intercept else np.zeros(1)
    null = scores.value(zero + shift)
    if not (math.isfinite(shift[0]) and 0.0 < null < math.inf):
        return None
    frame = newton.centered(X, intercept)
    coef, offset = np.zeros((1, X.shape[1])), shift
    if start is not None:
        coef = np.atleast_2d(start[0])
        offset = frame.inward(coef, np.atleast_1d(start[1]))
    coef, offset, model = newton.first_model(frame.rows, scores, l2, coef, offset, intercept, null)
    target = AIM * tol * null
    fit = newton.minimize(
        frame.rows, scores, 0.0, l2, intercept=intercept, tolerance=target, budget=budget, coef=coef, offset=offset,
        model=model, unseen=SURE * tol * null,
    )  # fmt: skip
    fit = frame.outward(fit)
    reached = fit.gap <= tol * null
    if fit.reason is Reason.STALLED and fit.gap > SURE * tol * null:
        return None
    return Result(
        fit.coef[0], float(fit.intercept[0]), np.zeros(0), fit.gap, fit.objective, null, fit.n_iter,
        Reason.CONVERGED if reached else fit.reason, fit.history, "Newton's method",
    )  # fmt: skip
