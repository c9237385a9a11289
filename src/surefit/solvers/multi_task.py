r"""Block coordinate descent for several targets with a common support.

.. math:: P(W) = \tfrac{1}{2n} \|Y - XW\|_F^2 + \alpha \sum_j \|W_j\|_2 + \tfrac\beta2 \|W\|_F^2 ,

one row :math:`W_j` per column of X. With :math:`g_j = x_j^\top R + \|x_j\|^2 W_j` the minimum over one row is
:math:`W_j = (1 - n\alpha / \|g_j\|)_+ \, g_j / (\|x_j\|^2 + n\beta)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled

SHORT = 10  # passes over the non-zero rows of W between two passes over all rows


class Result(NamedTuple):
    """Coefficients (d, t), gap, objective at zero, stopping reason, number of passes, and (seconds, pass, gap) at each check."""

    W: np.ndarray
    gap: float
    null_objective: float
    reason: Reason
    n_iter: int
    history: list[tuple[float, int, float]]


def minimize(X, Y, alpha: float, beta: float, *, tol: float, budget: Budget, start: np.ndarray) -> Result:
    """Minimize until the gap is at most ``tol`` times the objective at zero, or the budget is spent; columns must be centered."""
    n = len(X)
    A = np.asfortranarray(X).T  # one column of X per row, in memory
    W = np.array(start)
    R = np.ascontiguousarray((Y - X @ W).T)  # one target per row
    squares = np.einsum("ij,ij->i", A, A)
    null_objective = float(np.sum(Y * Y)) / (2 * n)
    history: list[tuple[float, int, float]] = []
    best, n_iter = np.inf, 0
    every = np.arange(len(W))
    while True:
        gap = _gap(A, Y.T, R, W, alpha, beta)
        history.append((budget.seconds, n_iter, gap))
        if gap <= tol * null_objective:
            return Result(W, gap, null_objective, Reason.CONVERGED, n_iter, history)
        reason = budget.spent(n_iter, gap)
        if reason is None and gap >= best and gap <= 1e-13 * null_objective:
            reason = Reason.STALLED
        if reason is not None:
            return Result(W, gap, null_objective, reason, n_iter, history)
        best = min(best, gap)
        _sweep(A, R, W, squares, every, n * alpha, n * beta)
        used = np.flatnonzero(W.any(axis=1))
        for _ in range(SHORT):
            if _sweep(A, R, W, squares, used, n * alpha, n * beta) <= 1e-16 * np.sqrt(null_objective):
                break
        n_iter += 1


def _gap(A, Y, R, W, alpha: float, beta: float) -> float:
    """Return the smaller duality gap of two dual points: the residuals scaled to be feasible and, if feasible, unscaled."""
    n = A.shape[1]
    v = A @ R.T / n
    sizes, norms = np.linalg.norm(v, axis=1), np.linalg.norm(W, axis=1)
    objective = np.sum(R * R) / (2 * n) + alpha * np.sum(norms) + beta / 2 * np.sum(norms**2)
    most, gaps = float(np.max(sizes, initial=0.0)), []
    for scale in {1.0, min(1.0, alpha / most) if most > 0 else 1.0}:
        over = np.maximum(scale * sizes - alpha, 0.0)
        if beta > 0 or np.all(over <= 1e-15 * alpha):
            conjugate = np.sum(over**2) / (2 * beta) if beta > 0 else 0.0
            gaps.append(objective - (scale * np.sum(R * Y) - scale**2 / 2 * np.sum(R * R)) / n + conjugate)
    return max(float(min(gaps, default=objective)), 0.0)


@compiled(relaxed=True)
def _sweep(A, R, W, squares, rows, threshold, ridge):
    """Minimize over each of ``rows`` in turn; return the largest change of the scores, as a root mean square."""
    n, tasks = A.shape[1], len(R)
    largest, g, change = 0.0, np.empty(tasks), np.empty(tasks)
    for j in rows:
        if squares[j] == 0.0:
            continue
        column = A[j]
        length = 0.0
        for t in range(tasks):
            total = 0.0
            for i in range(n):
                total += column[i] * R[t, i]
            g[t] = total + squares[j] * W[j, t]
            length += g[t] * g[t]
        length = np.sqrt(length)
        factor = max(0.0, 1.0 - threshold / length) / (squares[j] + ridge) if length > 0.0 else 0.0
        moved = 0.0
        for t in range(tasks):
            change[t] = factor * g[t] - W[j, t]
            moved += change[t] * change[t]
        if moved == 0.0:
            continue
        for t in range(tasks):
            if change[t] != 0.0:
                W[j, t] = factor * g[t]
                for i in range(n):
                    R[t, i] -= change[t] * column[i]
        largest = max(largest, np.sqrt(moved * squares[j] / n))
    return largest
