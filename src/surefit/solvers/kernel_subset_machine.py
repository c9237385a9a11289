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
    """Minimise in the span until the gap is at most ``tol`` times the loss of the best constant, then bound the exact gap."""
    scores = ScalarScores(SmoothedHinge(FULL_WIDTH) if loss == "hinge" else Logistic(), t, c)
    zero = np.zeros((len(t), 1))
    constant = float(scores.best_shift(zero)[0]) if offset else 0.0
    limit = tol * float(c @ values({"loss": loss}, t, zero[:, 0] + constant))
    found = minimise_in_span(rows, scores, offset, limit, budget)
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
    squares = np.array([w @ w])
    return MachineFit(
        a[None, :], found.intercept, squares, objective, gap(1.0, 0.0), gap(scale, missed), limit, float(found.width), scale,
        groups, found.n_iter, found.reason, found.history,
    )  # fmt: skip


def minimise_in_span(rows: SpanRows, scores, offset: bool, limit: float, budget: Budget) -> Fit:
    """Minimise half the squared norm plus the loss in the coordinates of the span, from a start on fewer rows."""
    design: Any = rows  # has the products of Rows
    start = subsample_start(design, scores, 0.0, 1.0, offset, budget)
    given: dict[str, Any] = {}
    if start is not None:
        given = {"coef": start.coef, "offset": start.intercept, "model": start.model}
        if start.width:
            scores.sharpen(start.width)
    return minimise(design, scores, 0.0, 1.0, intercept=offset, tolerance=SURE * limit, budget=budget, **given)


def best_factor(gap: Callable[[float], float]) -> float:
    """Return the factor of the dual point, at most one, with the least gap, which is convex in it."""
    if gap(0.99) >= gap(1.0):
        return 1.0
    return float(minimize_scalar(gap, bounds=(0.0, 0.99), method="bounded").x)
