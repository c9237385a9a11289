r"""Block coordinate descent for several targets with a common support.

.. math:: P(W) = \tfrac{1}{2n} \|Y - XW\|_F^2 + \alpha \sum_j \|W_j\|_2 + \tfrac\beta2 \|W\|_F^2 ,

one row :math:`W_j` per column of X. With :math:`g_j = x_j^\top R + \|x_j\|^2 W_j` the minimum over one row is
:math:`W_j = (1 - n\alpha / \|g_j\|)_+ \, g_j / (\|x_j\|^2 + n\beta)`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled

SHORT = 10  # passes over the non-zero rows of W between two passes over all rows
ROUNDED = 1e-10  # smallest relative gap for which products of the columns are accurate enough


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
    null_objective = float(np.vdot(Y, Y)) / (2 * len(X))
    W = np.array(start)
    if tol >= ROUNDED and X.shape[1] ** 2 <= len(X):
        steps: _Steps = _Products(X, Y, W)
    else:
        steps = _Residuals(X, Y, W)
    history: list[tuple[float, int, float]] = []
    best, n_iter = np.inf, 0
    while True:
        gap = _gap(len(X), *steps.numbers(W), W, alpha, beta)
        history.append((budget.seconds, n_iter, gap))
        reason = Reason.CONVERGED if gap <= tol * null_objective else budget.spent(n_iter, gap)
        if reason is None and gap >= best and gap <= 1e-13 * null_objective:
            reason = Reason.STALLED
        if reason is not None:
            return Result(W, gap, null_objective, reason, n_iter, history)
        best = min(best, gap)
        every, smallest = np.arange(len(W)), 1e-16 * np.sqrt(null_objective)
        steps.sweep(W, every, alpha, beta)
        used = np.flatnonzero(W.any(axis=1))
        for _ in range(SHORT):
            if steps.sweep(W, used, alpha, beta) <= smallest:
                break
        n_iter += 1


class _Steps(Protocol):
    """Representation of the data for coordinate descent."""

    def numbers(self, W: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return ``X'R``, the squared norm of the residuals R of coefficients ``W``, and their inner product with Y."""

    def sweep(self, W: np.ndarray, rows: np.ndarray, alpha: float, beta: float) -> float:
        """Minimize over each of ``rows`` in turn; return the largest change of the scores, as a root mean square."""


class _Residuals:
    """Columns of X and residuals; each sweep is a pass over the data."""

    def __init__(self, X, Y, W):
        self.A = np.asfortranarray(X).T  # one column of X per row, in memory
        self.Y, self.R = Y.T, np.ascontiguousarray((Y - X @ W).T)  # one target per row
        self.squares = np.einsum("ij,ij->i", self.A, self.A)

    def numbers(self, W: np.ndarray) -> tuple[np.ndarray, float, float]:
        return self.A @ self.R.T, float(np.sum(self.R * self.R)), float(np.sum(self.R * self.Y))

    def sweep(self, W, rows, alpha: float, beta: float) -> float:
        n = self.A.shape[1]
        return _sweep(self.A, self.R, W, self.squares, rows, n * alpha, n * beta)


class _Products:
    """Products of the columns with each other and with the targets; a sweep does not read the data.

    Rounding errors of the gap are relative to the sum of squares of Y.
    """

    def __init__(self, X, Y, W):
        self.n, self.H, self.XY, self.square = len(X), X.T @ X, X.T @ Y, float(np.vdot(Y, Y))
        self.V = self.XY - self.H @ W

    def numbers(self, W: np.ndarray) -> tuple[np.ndarray, float, float]:
        along = self.square - float(np.vdot(W, self.XY))
        return self.V, max(along - float(np.vdot(W, self.V)), 0.0), along

    def sweep(self, W, rows, alpha: float, beta: float) -> float:
        return _sweep_products(self.H, self.V, W, rows, self.n * alpha, self.n * beta) / np.sqrt(self.n)


def _gap(n: int, XR, square: float, along: float, W, alpha: float, beta: float) -> float:
    """Return the smaller duality gap of two dual points: the residuals scaled to be feasible and, if feasible, unscaled."""
    sizes, norms = np.linalg.norm(XR / n, axis=1), np.linalg.norm(W, axis=1)
    objective = square / (2 * n) + alpha * np.sum(norms) + beta / 2 * np.sum(norms**2)
    most, gaps = float(np.max(sizes, initial=0.0)), []
    for scale in {1.0, min(1.0, alpha / most) if most > 0 else 1.0}:
        over = np.maximum(scale * sizes - alpha, 0.0)
        if beta > 0 or np.all(over <= 1e-15 * alpha):
            conjugate = np.sum(over**2) / (2 * beta) if beta > 0 else 0.0
            gaps.append(objective - (scale * along - scale**2 / 2 * square) / n + conjugate)
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


@compiled(relaxed=True)
def _sweep_products(H, V, W, rows, threshold, ridge):
    """Minimize over each of ``rows`` in turn and update ``V = X'R``; return the largest norm of a change of the scores."""
    tasks, largest = W.shape[1], 0.0
    change = np.empty(tasks)
    for j in rows:
        if H[j, j] == 0.0:
            continue
        length = 0.0
        for t in range(tasks):
            change[t] = V[j, t] + H[j, j] * W[j, t]
            length += change[t] * change[t]
        length = np.sqrt(length)
        factor = max(0.0, 1.0 - threshold / length) / (H[j, j] + ridge) if length > 0.0 else 0.0
        moved = 0.0
        for t in range(tasks):
            new = factor * change[t]
            change[t] = new - W[j, t]
            W[j, t] = new
            moved += change[t] * change[t]
        if moved == 0.0:
            continue
        for k in range(len(V)):
            for t in range(tasks):
                V[k, t] -= H[k, j] * change[t]
        largest = max(largest, np.sqrt(moved * H[j, j]))
    return largest
