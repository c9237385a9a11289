"""Newton directions by preconditioned conjugate gradients, for Hessians that are too large to form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.solvers.newton.rows import Rows

FORCING = 0.1  # relative residual at which conjugate gradients stop
MOST_STEPS = 500


def direction(
    rows: Rows,
    scores,
    state,
    gradient: np.ndarray,
    l2: float,
    intercept: bool,
    accuracy: float,
    ask: Callable[[], None],
) -> tuple[np.ndarray, np.ndarray]:
    """Return (dW, db) that solve the Newton system up to ``accuracy``; the derivative in the intercepts must be zero."""
    K, d = gradient.shape
    if K == 1:
        curvatures = scores.diagonal(state, 0)
        diagonal = rows.square_sums(curvatures) + l2

        def times(u):
            return rows.curvature_times(curvatures, u, intercept) + l2 * u

        w = _solve(times, -gradient[0], diagonal, accuracy, ask)
        db = -(rows.weighted_means(curvatures) @ w) if intercept else 0.0
        return w[None, :], np.array([db])

    diagonal = np.array([rows.square_sums(scores.diagonal(state, k)) for k in range(K)]) + l2
    extra = np.array([[scores.diagonal(state, k).sum()] for k in range(K)]) if intercept else np.zeros((K, 0))
    diagonal = np.hstack([diagonal, extra + 1e-12 * extra.max(initial=0.0)]).ravel()

    def times_joint(u):
        U = u.reshape(K, -1)
        V = rows.times(np.ascontiguousarray(U[:, :d])) + (U[:, d] if intercept else 0.0)
        V = scores.hessian_times(state, V)
        parts = [rows.transposed(V) + l2 * U[:, :d]] + ([V.sum(axis=0)[:, None]] if intercept else [])
        return np.hstack(parts).ravel()

    goal = np.hstack([-gradient, np.zeros((K, 1 if intercept else 0))]).ravel()
    U = _solve(times_joint, goal, diagonal, accuracy, ask).reshape(K, -1)
    return np.ascontiguousarray(U[:, :d]), U[:, d].copy() if intercept else np.zeros(K)


def _solve(times, goal, diagonal, accuracy, ask) -> np.ndarray:
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    x, r = np.zeros_like(goal), goal.copy()
    z = r / diagonal
    p, rz = z.copy(), float(r @ z)
    enough = accuracy**2 * rz
    for _ in range(MOST_STEPS):
        if rz <= enough or rz == 0.0:
            break
        Hp = times(p)
        curvature = float(p @ Hp)
        if curvature <= 0.0:
            break
        step = rz / curvature
        x += step * p
        r -= step * Hp
        z = r / diagonal
        new = float(r @ z)
        p = z + (new / rz) * p
        rz = new
        ask()
    return x if x.any() else goal / diagonal
