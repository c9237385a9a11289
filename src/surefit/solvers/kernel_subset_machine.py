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

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.checks.kernel_subset_machine import group_rows, slopes_of
from surefit.checks.score_losses import differences, values
from surefit.core.budget import Budget, Reason
from surefit.losses import Logistic
from surefit.solvers.kernel_subset import PIECE, Span
from surefit.solvers.kernel_subset_rows import SpanRows
from surefit.solvers.newton import ScalarScores, minimise, subsample_start
from surefit.solvers.newton.terms import SmoothedHinge

FULL_WIDTH = 4.0  # of the smoothed hinge at first: every row is in the band
SMALL_GROUP = 1000  # rows
MOST_VALUES = 5e8  # kernel values that dual="auto" takes where small groups do not need more
SURE = 0.9  # share of the tolerance asked of the solver, whose coordinates may be float32


class MachineFit(NamedTuple):
    """One problem: coefficients of the landmarks, offset, what was proved, and how it was found."""

    a: np.ndarray
    b: float
    square: float  # squared norm of the function
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
    start = subsample_start(rows, scores, 0.0, 1.0, offset, budget)  # type: ignore[arg-type]
    if start is not None and start.width:
        scores.sharpen(start.width)
    found = minimise(
        rows,  # type: ignore[arg-type]
        scores,
        0.0,
        1.0,
        intercept=offset,
        tolerance=SURE * limit,
        budget=budget,
        coef=None if start is None else start.coef,
        offset=None if start is None else start.intercept,
        model=None if start is None else start.model,
    )
    w, b, problem = found.coef[0], float(found.intercept[0]), {"loss": loss, "width": found.width}
    a = span.whiten @ w
    f = np.empty(len(t))
    for part, K in span.pieces():
        f[part] = K @ a
    q = slopes_of(problem, t, c, f, b, offset).q
    theta = c * q
    groups = count_groups(int(np.count_nonzero(theta)), dual)
    e, missed = _image(span, theta, groups)

    def gap(scale: float, missed: float) -> float:
        apart = w - scale * e
        return float(c @ differences(problem, t, f + b, scale * q)[0]) + 0.5 * (
            float(apart @ apart) + (scale * missed) ** 2
        )

    scale = 1.0
    if gap(0.99, missed) < gap(1.0, missed):  # convex in the factor
        scale = float(minimize_scalar(gap, bounds=(0.0, 0.99), args=(missed,), method="bounded").x)
    objective = 0.5 * float(w @ w) + float(c @ values(problem, t, f + b))
    return MachineFit(
        a, b, float(w @ w), objective, gap(1.0, 0.0), gap(scale, missed), limit, float(found.width), scale, groups,
        found.n_iter, found.reason, found.history,
    )  # fmt: skip


def count_groups(support: int, dual: str) -> int:
    """Return into how many groups the rows with a dual coefficient are dealt."""
    if dual == "exact":
        return 1
    most = SMALL_GROUP if dual == "bounded" else max(SMALL_GROUP, MOST_VALUES / max(support, 1))
    return max(1, math.ceil(support / most))


def _image(span: Span, theta: np.ndarray, groups: int) -> tuple[np.ndarray, float]:
    """Return the coordinates of ``g``, and a bound of the norm of what the span misses of it."""
    rows, e, missed = span.kernel.rows(span.A), np.zeros(span.whiten.shape[1]), 0.0
    for support in group_rows(theta, groups):
        own, part = rows.take(support), theta[support]
        square = 0.0
        step = max(1, PIECE // len(support))
        for start in range(0, len(support), step):
            some = np.arange(start, min(start + step, len(support)))
            square += float(part[some] @ (own.block(some) @ part))
        image = np.zeros(len(span.whiten))
        for some, K in span.pieces(support):
            image += K.T @ part[some]
        image = span.whiten.T @ image
        e += image
        missed += math.sqrt(max(square - float(image @ image), 0.0))
    return e, missed
