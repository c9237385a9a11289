r"""Margin losses in the span of some rows, and how far the result is from the optimum in the whole space of the kernel.

For :math:`P(f, b) = \tfrac12 \|f\|^2 + \sum_i c_i \phi(t_i, f(x_i) + b)` and a dual point :math:`\theta = c q` with the function
:math:`g = \sum_i \theta_i k(x_i, \cdot)`,

.. math:: P - \min P \le \sum_i c_i \bigl[\phi(z_i) + \phi^*(-q_i) + q_i z_i\bigr] + \tfrac12 \|f - g\|^2, \qquad
          \|f - g\|^2 = \|f - \Pi g\|^2 + \|g - \Pi g\|^2 ,

:math:`\Pi` the projection on the span. The first norm is what the solver has left. The second is what the span misses: rows are dealt
into groups, whose parts of :math:`g - \Pi g` have norms from the kernel values within each group; the norm of a sum is at most the sum
of the norms. One group is exact. A multiple :math:`\tau\theta` may prove more than :math:`\theta`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.checks.kernel_subset_machine import slopes_of
from surefit.checks.score_losses import differences, values
from surefit.core.budget import Budget, Reason
from surefit.losses import Logistic
from surefit.solvers.kernel_subset import Span
from surefit.solvers.kernel_subset_image import count_groups, image_of
from surefit.solvers.kernel_subset_rows import SpanRows
from surefit.solvers.newton import Fit, ScalarScores, minimise, subsample_start
from surefit.solvers.newton.terms import SmoothedHinge

FULL_WIDTH = 4.0  # of the smoothed hinge at first: every row is in the band
STEEP_WIDTH = 0.1  # of the smoothed hinge where prices are steep
ROUGH = 1e-3  # tolerance of a solution that is but a start, relative to the loss at zero
SURE = 0.9  # share of the tolerance asked of the solver, whose coordinates may be float32


class MachineFit(NamedTuple):
    """One problem: coefficients of the landmarks, offsets, what was proved, and how it was found."""

    a: np.ndarray  # one line a function
    b: np.ndarray
    squares: np.ndarray  # squared norms of the functions
    objective: float
    subset_gap: float
    exact_gap: float
    limit: float  # what was asked of subset_gap
    width: float  # smoothing of the dual point
    scale: float  # its factor
    groups: int
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


def fit_machine(
    span: Span,
    rows: SpanRows,
    t: np.ndarray,
    c: np.ndarray,
    loss: str,
    dual: str,
    *,
    offset: bool,
    tol: float,
    budget: Budget,
) -> MachineFit:
    """Minimise in the span until the gap is at most ``tol`` times the objective, then bound the exact gap."""
    scores = ScalarScores(SmoothedHinge(FULL_WIDTH) if loss == "hinge" else Logistic(), t, c)
    found = minimise_in_span(rows, scores, offset, tol, budget)
    w, b, problem = found.coef[0], float(found.intercept[0]), {"loss": loss, "width": found.width}
    a = span.whiten @ w
    f = np.empty(len(t))
    for part, K in span.pieces():
        f[part] = K @ a
    q = slopes_of(problem, t, c, f, b, offset).q
    theta = c * q
    groups = count_groups(int(np.count_nonzero(theta)), dual)
    e, missed = image_of(span, theta, groups)

    def gap(scale: float, missed: float) -> float:
        apart = w - scale * e
        return float(c @ differences(problem, t, f + b, scale * q)[0]) + 0.5 * (
            float(apart @ apart) + (scale * missed) ** 2
        )

    scale = best_factor(lambda factor: gap(factor, missed))
    objective = 0.5 * float(w @ w) + float(c @ values(problem, t, f + b))
    squares, left = np.array([w @ w]), min(gap(1.0, 0.0), objective)
    return MachineFit(
        a[None, :], found.intercept, squares, objective, left, gap(scale, missed), tol * objective, float(found.width), scale, groups,
        found.n_iter, Reason.CONVERGED if left <= tol * objective else found.reason, found.history,
    )  # fmt: skip


def minimise_in_span(rows: SpanRows, scores, offset: bool, tol: float, budget: Budget) -> Fit:
    """Minimise half the squared norm plus the loss in the coordinates of the span until the gap is ``tol`` times the objective."""
    design: Any = rows  # has the products of Rows
    zero = np.zeros((rows.shape[0], scores.n_scores))
    tolerance = SURE * tol * scores.value(zero + scores.best_shift(zero) if offset else zero)
    start = subsample_start(design, scores, 0.0, 1.0, offset, budget)
    given: dict[str, Any] = {}
    if start is not None:
        given = {"coef": start.coef, "offset": start.intercept, "model": start.model}
        if start.width:
            scores.sharpen(start.width)
    found = _minimise(design, scores, offset, tol, tolerance, budget, given)
    if found.reason is Reason.STALLED and scores.width:
        given = _along_prices(design, scores, offset, budget)
        scores.sharpen(STEEP_WIDTH)
        again = _minimise(design, scores, offset, tol, tolerance, budget, given)
        best = min(found, again, key=lambda fit: fit.gap)
        found = best._replace(n_iter=found.n_iter + again.n_iter, history=found.history + again.history)
    return found


def _minimise(design: Any, scores, offset: bool, tol: float, tolerance: float, budget: Budget, given: dict) -> Fit:
    """Minimise; the objective, to which the tolerance is relative, is known at the end, so ask again until they agree."""
    n_iter, seconds = 0, 0.0
    history: list[tuple[float, int, float]] = []
    while True:
        found = minimise(design, scores, 0.0, 1.0, intercept=offset, tolerance=tolerance, budget=budget, **given)
        history += [(seconds + s, n_iter + i, g) for s, i, g in found.history]
        n_iter, seconds = n_iter + found.n_iter, history[-1][0] if history else 0.0
        tolerance = SURE * tol * found.objective
        if found.reason is not Reason.CONVERGED or found.gap <= tolerance:
            return found._replace(n_iter=n_iter, history=history)
        given = {"coef": found.coef, "offset": found.intercept}


def _along_prices(design: Any, scores, offset: bool, budget: Budget) -> dict[str, Any]:
    """Return a start where slack is steep: the solutions for lower prices of it, each from the one before."""
    given: dict[str, Any] = {}
    left = None if budget.max_time is None else max(budget.max_time - budget.seconds, 1e-3)
    for decades in range(6, 0, -1):
        part = ScalarScores(SmoothedHinge(STEEP_WIDTH), scores.y, scores.weights * 10.0**-decades)
        limit = ROUGH * part.value(np.zeros((design.shape[0], 1)))
        found = minimise(design, part, 0.0, 1.0, intercept=offset, tolerance=limit, budget=Budget(200, left), **given)
        given = {"coef": found.coef, "offset": found.intercept}
    return given


def best_factor(gap: Callable[[float], float]) -> float:
    """Return the factor of the dual point, at most one, with the least gap, which is convex in it."""
    if gap(0.99) >= gap(1.0):
        return 1.0
    best = float(minimize_scalar(gap, bounds=(0.0, 0.99), method="bounded").x)
    return best if gap(best) < gap(0.0) else 0.0
