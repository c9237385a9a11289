r"""Multinomial loss in the span of some rows: one function per class in a joint problem, and its dual point.

The probabilities :math:`Q` at the scores are a dual point of the problem in the full RKHS; see ``surefit.solvers.kernel_subset.margins``.
"""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.kernel_subset.margins import MachineFit, minimize_in_span
from surefit.solvers.kernel_subset.rows import SpanRows
from surefit.solvers.kernel_subset.squares import Span
from surefit.solvers.newton import SoftmaxScores


def fit_softmax(
    span: Span,
    rows: SpanRows,
    codes: np.ndarray,
    count: int,
    c: np.ndarray,
    *,
    offset: bool,
    tol: float,
    budget: Budget,
) -> MachineFit:
    """Minimize in the span until the gap is at most ``tol`` times the objective."""
    scores = SoftmaxScores(codes, count, c)
    found = minimize_in_span(rows, scores, offset, tol, budget)
    a = found.coef @ span.whiten.T
    Z = span.values(a.T) + found.intercept
    loss, _, Q = scores.evaluate(Z + scores.best_shift(Z) if offset else Z)
    squares = np.sum(found.coef**2, axis=1)
    objective = 0.5 * float(squares.sum()) + (scores.value(Z) if offset else loss)
    return MachineFit(a, found.intercept, squares, objective, Q, found.n_iter, found.reason, found.history)
