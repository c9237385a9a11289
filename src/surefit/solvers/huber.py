r"""Huber's regression with its scale: Newton's method on the jointly convex objective.

.. math:: P(w, b, \sigma) = \sum_i s_i [\sigma + \sigma H(r_i/\sigma)] + \alpha\|w\|^2, \qquad
          H(t) = \max_{|q| \le 2\varepsilon} (qt - q^2/4) .

Rows within :math:`\varepsilon\sigma` contribute :math:`r_i^2/\sigma`, the others a linear function; so a step solves one system over the
rows within, and the line search sees a smooth function. Slopes at any point, scaled into their ball, are a dual point.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.core.budget import Budget, Reason

SMALLEST_SCALE = 1e-10  # of the spread of the targets: rows on a plane have none
SHORTEST = 1e-3  # step of the line search
LEAST_GAIN = 1e-4  # share of the linear gain that a step must have
ROUNDING = 1e-14  # of the objective: smaller gains cannot be seen
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e6  # of Newton's system, in units of the total weight over the scale


class HuberFit(NamedTuple):
    """Where the solver ended."""

    coef: np.ndarray
    intercept: float
    scale: float
    dual: np.ndarray  # slopes of the loss of each row at its score, in units of the residuals
    gap: float
    null_objective: float
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


class _Problem(NamedTuple):
    Z: np.ndarray  # columns about their mean, each of unit size, and a column of ones if the intercept is free
    y: np.ndarray
    s: np.ndarray
    epsilon: float
    ridge: np.ndarray  # 2 alpha over squared sizes, 0 for the intercept
    floor: float  # of the scale
    free: bool  # whether there is an intercept

    def value(self, u: np.ndarray, scale: float) -> float:
        r = self.y - self.Z @ u
        inside = np.minimum(np.abs(r), self.epsilon * scale)
        loss = float(self.s @ (inside * (2 * np.abs(r) - inside))) / scale
        return float(np.sum(self.s)) * scale + loss + 0.5 * float(self.ridge @ u**2)

    def duals(self, u: np.ndarray, scale: float) -> np.ndarray:
        """Return slopes ``q`` of the residuals that are feasible: of sum zero and inside their ball."""
        q = np.clip(2 * (self.y - self.Z @ u) / scale, -2 * self.epsilon, 2 * self.epsilon)
        if self.free:  # scale the heavier side
            theta = self.s * q
            up, down = float(np.sum(theta[theta > 0])), -float(np.sum(theta[theta < 0]))
            if max(up, down) > 0:
                q = np.where((q > 0) == (up > down), q * (min(up, down) / max(up, down)), q)
        size = float(self.s @ q**2) / 4
        return q * min(1.0, math.sqrt(float(np.sum(self.s)) / size)) * (1 - 1e-12) if size > 0 else q


def minimize_huber(
    X, y, s, *, epsilon: float, alpha: float, intercept: bool, tol: float, budget: Budget, start=None
) -> HuberFit:
    """Minimize to a gap of ``tol`` times twice the spread of the targets, the objective of their mean at most."""
    n, d = X.shape
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    total = float(np.sum(s))
    middle = s @ dense / total if intercept else np.zeros(d)
    level = float(s @ y) / total if intercept else 0.0
    spread = math.sqrt(float(s @ (y - level) ** 2) / total)
    Z = dense - middle
    sizes = np.sqrt(s @ Z**2 / total)
    sizes[sizes == 0] = 1.0
    Z = Z / sizes
    ridge = 2 * alpha / sizes**2
    if intercept:
        Z, ridge = np.column_stack([Z, np.ones(n)]), np.append(ridge, 0.0)
    null = 2 * total * spread
    problem = _Problem(Z, y - level, s, epsilon, ridge, SMALLEST_SCALE * spread, intercept)
    if null == 0.0:  # all targets are equal: the mean, and the least scale that is a number
        return HuberFit(np.zeros(d), level, np.finfo(float).tiny, np.zeros(n), 0.0, 0.0, 0, Reason.CONVERGED, [])
    u, scale = np.zeros(Z.shape[1]), spread
    if start is not None:
        w, b, scale = start[0] * sizes, start[1] + float(middle @ start[0]) - level, max(start[2], problem.floor)
        u = np.append(w, b) if intercept else w
    u, scale, gap, n_iter, reason, history = _descend(problem, u, scale, tol * null, budget)
    w = u[:d] / sizes
    b = level + (float(u[d]) if intercept else 0.0) - float(middle @ w)
    dual = -0.5 * scale * problem.duals(u, scale)
    return HuberFit(w, b if intercept else 0.0, scale, dual, gap, null, n_iter, reason, history)


def _descend(p: _Problem, u: np.ndarray, scale: float, tolerance: float, budget: Budget):
    """Take Newton steps; where the line search fails, the system is damped more (Levenberg and Marquardt)."""
    value, history, n_iter, damping = p.value(u, scale), [], 0, LEAST_DAMPING
    total, best = float(np.sum(p.s)), (math.inf, u, scale)
    while True:
        r = p.y - p.Z @ u
        q = np.clip(2 * r / scale, -2 * p.epsilon, 2 * p.epsilon)
        gap = _gap(p, u, scale, value)
        history.append((budget.seconds, n_iter, gap))
        best = min(best, (gap, u, scale), key=lambda point: point[0])
        reason = Reason.CONVERGED if gap <= tolerance else budget.spent(n_iter, gap)
        if reason is not None or damping > MOST_DAMPING:
            return best[1], best[2], best[0], n_iter, reason or Reason.STALLED, history
        gradient = np.append(p.ridge[: len(u)] * u - p.Z.T @ (p.s * q), total - float(p.s @ q**2) / 4)
        step = _step(p, r, scale, gradient, damping)
        least = p.floor + 0.1 * (scale - p.floor)  # the scale may fall to a tenth at once
        gain, t, other = float(gradient @ step), 1.0, math.inf
        while t > SHORTEST:
            other = p.value(u + t * step[:-1], max(scale + t * step[-1], least))
            if other <= value + LEAST_GAIN * t * gain + ROUNDING * abs(value):
                break
            t *= 0.5
        if t > SHORTEST:
            u, scale, value = u + t * step[:-1], max(scale + t * step[-1], least), other
        damping = max(damping / 10, LEAST_DAMPING) if t == 1.0 else damping * (1.0 if t > 0.1 else 100.0)
        n_iter += 1


def _step(p: _Problem, r: np.ndarray, scale: float, gradient: np.ndarray, damping: float) -> np.ndarray:
    """Solve Newton's system over the rows within."""
    inside = np.abs(r) <= p.epsilon * scale
    A = np.column_stack([p.Z[inside], r[inside] / scale])
    H = (A * (2 * p.s[inside] / scale)[:, None]).T @ A
    most = float(np.sum(p.s)) * 2 / scale
    H.flat[:: len(H) + 1] += np.append(p.ridge[: len(H) - 1], 0.0) + damping * most
    try:
        step = -linalg.cho_solve(linalg.cho_factor(H, check_finite=False), gradient, check_finite=False)
    except linalg.LinAlgError:
        return -gradient / most
    return step if np.all(np.isfinite(step)) else -gradient / most


def _gap(p: _Problem, u: np.ndarray, scale: float, value: float) -> float:
    """Return the gap of the dual point at the slopes; infinite while the equalities of unpenalized columns are violated."""
    q = p.duals(u, scale)
    v = p.Z.T @ (p.s * q)
    free = p.ridge[: len(v)] == 0.0
    size = np.abs(p.Z).T @ (p.s * np.abs(q))
    if np.any(np.abs(v[free]) > 1e-10 * (size[free] + 1e-300)):
        return value
    bound = float((p.s * q) @ p.y) - float(np.sum(v[~free] ** 2 / p.ridge[: len(v)][~free])) / 2
    return max(min(value - bound, value), 0.0)
