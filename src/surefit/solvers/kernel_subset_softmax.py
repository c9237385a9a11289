r"""The multinomial loss in the span of some rows: one function a class, all in one problem, and its gap to the exact optimum.

With the probabilities :math:`Q` at the scores, :math:`\theta = c (Y - Q)` is a dual point; see ``kernel_subset_machine``.
"""

from __future__ import annotations

import numpy as np

from surefit.checks.kernel_subset_softmax import simplex_rows
from surefit.checks.multinomial import log_softmax
from surefit.core.budget import Budget, Reason
from surefit.solvers.kernel_subset import Span
from surefit.solvers.kernel_subset_image import count_groups, image_of
from surefit.solvers.kernel_subset_machine import MachineFit, best_factor, minimise_in_span
from surefit.solvers.kernel_subset_rows import SpanRows
from surefit.solvers.newton import SoftmaxScores


def fit_softmax(
    span: Span,
    rows: SpanRows,
    codes: np.ndarray,
    count: int,
    c: np.ndarray,
    dual: str,
    *,
    offset: bool,
    tol: float,
    budget: Budget,
) -> MachineFit:
    """Minimise in the span until the gap is at most ``tol`` times the objective, then bound the exact gap."""
    scores = SoftmaxScores(codes, count, c)
    found = minimise_in_span(rows, scores, offset, tol, budget)
    W, b = found.coef, found.intercept
    a = W @ span.whiten.T
    F, Y = np.empty((len(codes), count)), np.zeros((len(codes), count))
    for part, K in span.pieces():
        F[part] = K @ a.T
    Y[np.arange(len(codes)), codes] = 1.0
    log_p = log_softmax(F + b)
    Q = simplex_rows(np.exp(log_p), Y, c, offset)
    groups = count_groups(int(np.count_nonzero(c)), dual)
    images = [image_of(span, theta, groups) for theta in (c[:, None] * (Y - Q)).T]
    E, missed = np.array([e for e, _ in images]), np.array([part for _, part in images])

    def gap(scale: float, missed: np.ndarray) -> float:
        M = Y + scale * (Q - Y)
        entropy = np.where(M > 0, M * (np.log(np.where(M > 0, M, 1.0)) - log_p), 0.0).sum(axis=1)
        return float(c @ np.maximum(entropy, 0.0)) + 0.5 * (
            float(np.sum((W - scale * E) ** 2)) + scale**2 * float(missed @ missed)
        )

    scale = best_factor(lambda factor: gap(factor, missed))
    squares = np.sum(W**2, axis=1)
    objective = 0.5 * float(squares.sum()) - float(c @ log_p[np.arange(len(codes)), codes])
    left = min(gap(1.0, 0 * missed), objective)
    return MachineFit(
        a, b, squares, objective, left, gap(scale, missed), tol * objective, 0.0, scale, groups, found.n_iter,
        Reason.CONVERGED if left <= tol * objective else found.reason, found.history,
    )  # fmt: skip
