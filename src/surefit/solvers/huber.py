r"""Huber regression with a scale parameter: Newton's method on the jointly convex objective.

.. math:: P(w, b, \sigma) = \sum_i s_i [\sigma + \sigma H(r_i/\sigma)] + \alpha\|w\|^2, \qquad
          H(t) = \max_{|q| \le 2\varepsilon} (qt - q^2/4) .

Rows with :math:`|r_i| \le \varepsilon\sigma` contribute :math:`r_i^2/\sigma`, the others a linear function of the
residual. A Newton step therefore solves one system over the rows within this threshold, and the line search uses a
continuously differentiable function. The derivatives at any point, scaled into their ball, are a dual point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.core.budget import Budget, Reason

SMALLEST_SCALE = 1e-10  # relative to the spread of the targets; an exact fit would have scale zero
NO_SCALE = 1e-150  # scale of equal targets: positive, and weights divided by it are finite
LENGTHS = 0.5 ** np.arange(10.0)  # step lengths of the line search
LEAST_GAIN = 1e-4  # fraction of the first-order decrease that a step must attain (Armijo)
ROUNDING = 1e-14  # relative to the objective: smaller decreases are rounding errors
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e6  # of the Newton system, in units of twice the total weight over the scale


class HuberFit(NamedTuple):
    """The point at which the solver stopped."""

    coef: np.ndarray
    intercept: float
    scale: float
    dual: np.ndarray  # derivative of the loss of each row in its score, in units of the residuals
    gap: float
    null_objective: float
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


class Look(NamedTuple):
    """Objective, gap and gradient at a point."""

    value: float
    gap: float
    gradient: np.ndarray  # the scale last


class _Problem(NamedTuple):
    Z: np.ndarray  # centered columns with unit root mean square, and a column of ones if there is an intercept
    y: np.ndarray
    s: np.ndarray
    epsilon: float
    ridge: np.ndarray  # 2 alpha divided by the squared column sizes; 0 for the intercept
    floor: float  # of the scale
    free: bool  # whether there is an intercept

    def value(self, u: np.ndarray, scale: float) -> float:
        r = self.y - self.Z @ u
        inside = np.minimum(np.abs(r), self.epsilon * scale)
        loss = float(self.s @ (inside * (2 * np.abs(r) - inside))) / scale
        return float(np.sum(self.s)) * scale + loss + 0.5 * float(self.ridge @ u**2)

    def duals(self, u: np.ndarray, scale: float) -> np.ndarray:
        """Return feasible derivatives ``q`` with respect to the residuals: their weighted sum is zero and they lie in their ball."""
        q = np.clip(2 * (self.y - self.Z @ u) / scale, -2 * self.epsilon, 2 * self.epsilon)
        if self.free:  # scale the side with the larger sum
            theta = self.s * q
            up, down = float(np.sum(theta[theta > 0])), -float(np.sum(theta[theta < 0]))
            if max(up, down) > 0:
                q = np.where((q > 0) == (up > down), q * (min(up, down) / max(up, down)), q)
        size = float(self.s @ q**2) / 4
        return q * min(1.0, math.sqrt(float(np.sum(self.s)) / size)) * (1 - 1e-12) if size > 0 else q

    @property
    def total(self) -> float:
        return float(np.sum(self.s))

    def look(self, u: np.ndarray, scale: float) -> Look:
        value, q = self.value(u, scale), np.clip(2 * (self.y - self.Z @ u) / scale, -2 * self.epsilon, 2 * self.epsilon)
        descent = self.ridge[: len(u)] * u - self.Z.T @ (self.s * q)
        gradient = np.append(descent, self.total - float(self.s @ q**2) / 4)
        return Look(value, _gap(self, u, scale, value), gradient)

    def curvature(self, u: np.ndarray, scale: float) -> np.ndarray:
        """Return the Hessian of the loss, to which only rows with residuals within the threshold contribute."""
        r = self.y - self.Z @ u
        inside = np.abs(r) <= self.epsilon * scale
        A = np.column_stack([self.Z[inside], r[inside] / scale])
        return (A * (2 * self.s[inside] / scale)[:, None]).T @ A

    def values(self, points: Iterable[tuple[np.ndarray, float]]) -> Iterator[float]:
        """Return an iterator over the objectives at ``points``, evaluated lazily."""
        return (self.value(u, scale) for u, scale in points)


class Frame(NamedTuple):
    """Centering and scaling of the columns, and centering of the targets."""

    middle: np.ndarray
    sizes: np.ndarray
    level: float
    spread: float  # of the targets
    total: float  # weight of all rows
    intercept: bool

    @property
    def null(self) -> float:
        """Upper bound on the objective at the mean of the targets."""
        return 2 * self.total * self.spread

    @property
    def floor(self) -> float:
        """Smallest allowed scale parameter."""
        return SMALLEST_SCALE * self.spread

    def ridge(self, alpha: float) -> np.ndarray:
        """Return the second derivatives of the penalty, zero for the intercept."""
        return np.append(2 * alpha / self.sizes**2, [0.0] * self.intercept)

    def start(self, given: tuple[np.ndarray, float, float] | None) -> tuple[np.ndarray, float]:
        """Return the starting point in the scaled columns: zero, unless coefficients, intercept and scale are given."""
        if given is None:
            return np.zeros(len(self.sizes) + self.intercept), self.spread
        w, b = given[0] * self.sizes, given[1] + float(self.middle @ given[0]) - self.level
        return np.append(w, b) if self.intercept else w, max(given[2], self.floor)

    def outward(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept for the original columns."""
        w = u[: len(self.sizes)] / self.sizes
        return w, self.level + float(u[-1]) - float(self.middle @ w) if self.intercept else 0.0


def minimize_huber(
    X, y, s, *, epsilon: float, alpha: float, intercept: bool, tol: float, budget: Budget, start=None
) -> HuberFit:
    """Minimize to a gap of ``tol`` times ``Frame.null``, an upper bound on the objective at the mean of the targets."""
    n, d = X.shape
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    total = float(np.sum(s))
    middle = s @ dense / total if intercept else np.zeros(d)
    level = float(s @ y) / total if intercept else 0.0
    Z = dense - middle
    sizes = np.sqrt(s @ Z**2 / total)
    sizes[sizes == 0] = 1.0
    Z = Z / sizes
    frame = Frame(middle, sizes, level, math.sqrt(float(s @ (y - level) ** 2) / total), total, intercept)
    if intercept:
        Z = np.column_stack([Z, np.ones(n)])
    problem = _Problem(Z, y - level, s, epsilon, frame.ridge(alpha), frame.floor, intercept)
    if frame.null == 0.0:  # all targets are equal: return their mean and a tiny scale
        return HuberFit(np.zeros(d), level, NO_SCALE, np.zeros(n), 0.0, 0.0, 0, Reason.CONVERGED, [])
    u, scale, gap, n_iter, reason, history = descend(problem, *frame.start(start), tol * frame.null, budget)
    w, b = frame.outward(u)
    dual = -0.5 * scale * problem.duals(u, scale)
    return HuberFit(w, b, scale, dual, gap, frame.null, n_iter, reason, history)


def descend(p: Any, u: np.ndarray, scale: float, tolerance: float, budget: Budget):
    """Take Newton steps; if the line search fails, increase the damping (Levenberg-Marquardt)."""
    history, n_iter, damping, best = [], 0, LEAST_DAMPING, (math.inf, u, scale)
    while True:
        value, gap, gradient = p.look(u, scale)
        history.append((budget.seconds, n_iter, gap))
        best = min(best, (gap, u, scale), key=lambda point: point[0])
        reason = Reason.CONVERGED if gap <= tolerance else budget.spent(n_iter, gap)
        if reason is not None or damping > MOST_DAMPING:
            return best[1], best[2], best[0], n_iter, reason or Reason.STALLED, history
        step = _step(p, u, scale, gradient, damping)
        least = p.floor + 0.1 * (scale - p.floor)  # a step may reduce the scale to a tenth at most
        gain, length = float(gradient @ step), 0.0
        points = [(u + t * step[:-1], max(scale + t * step[-1], least)) for t in LENGTHS]
        for t, point, other in zip(LENGTHS, points, p.values(points), strict=True):
            if other <= value + LEAST_GAIN * t * gain + ROUNDING * abs(value):
                length, (u, scale) = t, point
                break
        damping = max(damping / 10, LEAST_DAMPING) if length == 1.0 else damping * (1.0 if length > 0.1 else 100.0)
        n_iter += 1


def _step(p: Any, u: np.ndarray, scale: float, gradient: np.ndarray, damping: float) -> np.ndarray:
    """Solve the damped Newton system; return a gradient step if this fails."""
    H, most = p.curvature(u, scale), p.total * 2 / scale
    H.flat[:: len(H) + 1] += np.append(p.ridge[: len(H) - 1], 0.0) + damping * most
    try:
        step = -linalg.cho_solve(linalg.cho_factor(H, check_finite=False), gradient, check_finite=False)
    except linalg.LinAlgError:
        return -gradient / most
    return step if np.all(np.isfinite(step)) else -gradient / most


def _gap(p: _Problem, u: np.ndarray, scale: float, value: float) -> float:
    """Return the gap of the dual point; the objective itself while equality constraints of unpenalized columns are violated."""
    q = p.duals(u, scale)
    v = p.Z.T @ (p.s * q)
    free = p.ridge[: len(v)] == 0.0
    size = np.abs(p.Z).T @ (p.s * np.abs(q))
    if np.any(np.abs(v[free]) > 1e-10 * (size[free] + 1e-300)):
        return value
    bound = float((p.s * q) @ p.y) - float(np.sum(v[~free] ** 2 / p.ridge[: len(v)][~free])) / 2
    return max(min(value - bound, value), 0.0)
