r"""Minimize a quadratic plus an elastic-net penalty: :math:`g^\top\delta + \tfrac12\delta^\top H\delta + \Omega(w + \delta)`.

Coordinate descent finds the support. With the signs of the support fixed, the problem is a linear system; the step
toward its solution ends when the first coefficient reaches zero.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from surefit.core.jit import compiled
from surefit.solvers import cholesky

SWEEPS = 10
ROUNDS = 200
RIDGE = 1e-13  # relative ridge for a singular matrix


def factorize(H: np.ndarray, l2: float):
    """Return the Cholesky factor of ``H + l2 I``, regularized if it is singular."""
    A = H.copy()
    A.flat[:: len(A) + 1] += l2
    scale = float(np.trace(A)) / max(len(A), 1)
    for ridge in (0.0, RIDGE, 1e-10):
        try:
            return cholesky.factorize(_with_ridge(A, ridge * scale))
        except linalg.LinAlgError:
            continue
    # rounding made it indefinite: shift its spectrum to obtain a descent direction; a line search chooses the step
    lowest = float(linalg.eigvalsh(A, subset_by_index=[0, 0])[0])
    return cholesky.factorize(_with_ridge(A, 2 * abs(lowest) + 1e-6 * abs(scale)))


def _with_ridge(A: np.ndarray, ridge: float) -> np.ndarray:
    B = A.copy()
    B.flat[:: len(A) + 1] += max(ridge, 1e-300) if ridge else 0.0
    return B


def minimize_quadratic(H: np.ndarray, g: np.ndarray, w: np.ndarray, l1: float, l2: float, target: float) -> np.ndarray:
    """Return the step ``delta``; ``target`` is the largest accepted violation of optimality, in units of ``l1``."""
    if not len(w):
        return w.copy()
    if l1 == 0.0:
        return -cholesky.solve(factorize(H, l2), g + l2 * w)
    u, q = w.copy(), g.copy()  # q: gradient of the smooth part without l2
    H = np.ascontiguousarray(H)
    diagonal = np.maximum(np.diag(H), RIDGE * max(np.trace(H) / len(H), 1e-300))
    for _ in range(ROUNDS):
        _sweeps(H, diagonal, q, u, l1, l2, SWEEPS, target)
        if _violation(q, u, l1, l2) <= target:
            break
        support = np.flatnonzero(u)
        if len(support) == 0:
            break
        _follow_support(H, q, u, support, l1, l2)
        if _violation(q, u, l1, l2) <= target:
            break
    return u - w


def _violation(q, u, l1, l2) -> float:
    derivative = q + l2 * u
    off = np.where(u != 0.0, np.abs(derivative + l1 * np.sign(u)), np.maximum(np.abs(derivative) - l1, 0.0))
    return float(np.max(off, initial=0.0))


def _follow_support(H, q, u, support, l1, l2) -> None:
    """Take Newton steps on the support, each up to the first coefficient that would change its sign."""
    while len(support):
        signs = np.sign(u[support])
        derivative = q[support] + l2 * u[support] + l1 * signs
        step = -cholesky.solve(factorize(H[np.ix_(support, support)], l2), derivative)
        crossing = (u[support] + step) * signs < 0.0
        t = 1.0
        if crossing.any():
            fractions = np.where(crossing, -u[support] / np.where(step == 0.0, 1.0, step), np.inf)
            first = int(np.argmin(fractions))
            t = float(fractions[first])
        u[support] += t * step
        q += H[:, support] @ (t * step)
        if t == 1.0:
            return
        q -= H[:, support[first]] * u[support[first]]
        u[support[first]] = 0.0
        support = np.delete(support, first)


@compiled(relaxed=True)
def _sweeps(H, diagonal, q, u, l1, l2, n_sweeps, target):
    """Perform one sweep over all coordinates, then several over the support; stop when no violation exceeds ``target``."""
    size = len(u)
    for sweep in range(n_sweeps + 1):
        worst = 0.0
        for j in range(size):
            old = u[j]
            if sweep > 0 and old == 0.0:
                continue
            h = diagonal[j] + l2
            v = diagonal[j] * old - q[j]
            new = 0.0
            if v > l1:
                new = (v - l1) / h
            elif v < -l1:
                new = (v + l1) / h
            change = new - old
            if change != 0.0:
                u[j] = new
                row = H[j]
                for k in range(size):
                    q[k] += change * row[k]
                worst = max(worst, abs(change) * h)
        if worst <= target:
            break
