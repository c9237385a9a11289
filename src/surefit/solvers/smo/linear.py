r"""Linear kernels: dual vectors from Newton's method on a smoothed primal.

The derivatives :math:`-\beta_i` of the smoothed losses at the best :math:`(w, b)` lie in the box of the dual and sum to
zero if there is an intercept. They are exactly at a bound for every row outside the smoothed regions. A pass reads
the entries of X and computes no kernel value. The model predicts with :math:`X^\top\beta`, not with :math:`w`, so only the gap of
:math:`\beta` matters. The smoothing width is reduced until this gap is small enough or rounding limits progress.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.dual_start import dual_start
from surefit.solvers.newton import Rows, ScalarScores, minimize, subsample_start
from surefit.solvers.newton.terms import SmoothedHinge, SmoothedTube
from surefit.solvers.smo.problem import BoxProblem
from surefit.solvers.smo.rows import LinearRows

ROUNDS = 6  # number of tolerances, each a tenth of the last
FIRST = 0.03  # fraction of the requested gap for Newton's method, whose gap refers to a different primal point


def dual_points(gram: LinearRows, problem: BoxProblem, tol: float, budget: Budget) -> Iterator[tuple[np.ndarray, int]]:
    """Yield dual vectors with decreasing gaps, each with its number of steps; the caller decides when to stop."""
    c = np.maximum(problem.high, -problem.low)
    targets = problem.y
    loss = SmoothedHinge(4.0) if problem.one_sided else SmoothedTube(problem.epsilon, float(np.ptp(targets)) or 1.0)
    rows, scores = Rows(gram.A), ScalarScores(loss, targets, c)
    nothing = np.zeros((gram.n, 1))
    goal = FIRST * tol * scores.value(nothing + scores.best_shift(nothing) if problem.offset else nothing)
    first = dual_start(rows, scores, problem.offset, goal, budget)
    if first is not None and first.dual is not None:
        yield c * first.dual, first.n_iter
        first = None
    elif first is None:
        first = subsample_start(rows, scores, 0.0, 1.0, problem.offset, budget)
    coef, offset, model = (None, None, None) if first is None else (first.coef, first.intercept, first.model)
    if first is not None and first.width:
        scores.sharpen(first.width)
    for _ in range(ROUNDS):
        fit = minimize(
            rows, scores, 0.0, 1.0, intercept=problem.offset, tolerance=goal, budget=budget, coef=coef, offset=offset,
            model=model,
        )  # fmt: skip
        scores.sharpen(fit.width)
        coef, offset, model = fit.coef, fit.intercept, None
        yield -scores.evaluate(rows.times(coef) + offset)[1][:, 0], fit.n_iter
        if fit.reason is not Reason.CONVERGED:
            return
        goal = 0.1 * min(goal, fit.gap)
