r"""Margin losses in the span of some rows, with a dual point that bounds the gap to the exact problem.

For :math:`P(f, b) = \tfrac12 \|f\|^2 + \sum_i c_i \phi(t_i, f(x_i) + b)`, the derivatives of the (smoothed) loss at the scores are also a
dual point of the problem in the full RKHS.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.losses import Logistic
from surefit.solvers.kernel_subset.rows import SpanRows
from surefit.solvers.kernel_subset.squares import Span
from surefit.solvers.newton import Fit, ScalarScores, minimize, subsample_start
from surefit.solvers.newton.terms import SmoothedHinge

FULL_WIDTH = 4.0  # initial width of the smoothed hinge: every row is in the smoothed region
STEEP_WIDTH = 0.1  # width of the smoothed hinge for large C
ROUGH = 1e-3  # tolerance of a solution used only as a starting point, relative to the loss at zero
SURE = 0.5  # fraction of the tolerance for the solver, whose coordinates may be float32


class MachineFit(NamedTuple):
    """Solution of one problem: coefficients of the landmarks, intercepts, a dual point, and how it was found."""

    a: np.ndarray  # one row per function
    b: np.ndarray
    squares: np.ndarray  # squared norms of the functions
    objective: float
    dual: np.ndarray  # one column per function
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


def fit_machine(
    span: Span, rows: SpanRows, t: np.ndarray, c: np.ndarray, loss: str, *, offset: bool, tol: float, budget: Budget
) -> MachineFit:
    """Minimize in the span until the gap is at most ``tol`` times the objective."""
    scores = ScalarScores(SmoothedHinge(FULL_WIDTH) if loss == "hinge" else Logistic(), t, c)
    found = minimize_in_span(rows, scores, offset, tol, budget)
    w, a = found.coef[0], span.whiten @ found.coef[0]
    z = span.values(a[:, None]) + found.intercept
    if loss == "hinge":
        scores.sharpen(found.width)
        losses = np.maximum(1.0 - t * z[:, 0], 0.0)
    else:
        losses = np.logaddexp(0.0, -t * z[:, 0])
    derivatives = scores.evaluate(z + scores.best_shift(z) if offset else z)[1]
    dual = -np.divide(derivatives, c[:, None], out=np.zeros_like(derivatives), where=c[:, None] > 0)
    objective = 0.5 * float(w @ w) + float(c @ losses)
    squares = np.array([w @ w])
    return MachineFit(a[None, :], found.intercept, squares, objective, dual, found.n_iter, found.reason, found.history)


def minimize_in_span(rows: SpanRows, scores, offset: bool, tol: float, budget: Budget) -> Fit:
    """Minimize half the squared norm plus the loss in the coordinates of the span to a gap of ``tol`` times the objective."""
    design: Any = rows  # provides the products of Rows
    zero = np.zeros((rows.shape[0], scores.n_scores))
    tolerance = SURE * tol * scores.value(zero + scores.best_shift(zero) if offset else zero)
    start = subsample_start(design, scores, 0.0, 1.0, offset, budget)
    given: dict[str, Any] = {}
    if start is not None:
        given = {"coef": start.coef, "offset": start.intercept, "model": start.model}
        if start.width:
            scores.sharpen(start.width)
    found = _minimize(design, scores, offset, tol, tolerance, budget, given)
    if found.reason is Reason.STALLED and scores.width:
        given = _warm_start_path(design, scores, offset, budget)
        scores.sharpen(STEEP_WIDTH)
        again = _minimize(design, scores, offset, tol, tolerance, budget, given)
        best = min(found, again, key=lambda fit: fit.gap)
        found = best._replace(n_iter=found.n_iter + again.n_iter, history=found.history + again.history)
    return found


def _minimize(design: Any, scores, offset: bool, tol: float, tolerance: float, budget: Budget, given: dict) -> Fit:
    """Minimize repeatedly until the tolerance, which is relative to the final objective, is met."""
    n_iter, seconds = 0, 0.0
    history: list[tuple[float, int, float]] = []
    while True:
        found = minimize(design, scores, 0.0, 1.0, intercept=offset, tolerance=tolerance, budget=budget, **given)
        history += [(seconds + s, n_iter + i, g) for s, i, g in found.history]
        n_iter, seconds = n_iter + found.n_iter, history[-1][0] if history else 0.0
        tolerance = SURE * tol * found.objective
        if found.reason is not Reason.CONVERGED or found.gap <= tolerance:
            return found._replace(n_iter=n_iter, history=history)
        given = {"coef": found.coef, "offset": found.intercept}


def _warm_start_path(design: Any, scores, offset: bool, budget: Budget) -> dict[str, Any]:
    """Return a starting point for large ``C``, by solving for increasing values of ``C`` with warm starts."""
    given: dict[str, Any] = {}
    left = None if budget.max_time is None else max(budget.max_time - budget.seconds, 1e-3)
    for decades in range(6, 0, -1):
        part = ScalarScores(SmoothedHinge(STEEP_WIDTH), scores.y, scores.weights * 10.0**-decades)
        limit = ROUGH * part.value(np.zeros((design.shape[0], 1)))
        found = minimize(design, part, 0.0, 1.0, intercept=offset, tolerance=limit, budget=Budget(200, left), **given)
        given = {"coef": found.coef, "offset": found.intercept}
    return given
