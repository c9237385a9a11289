"""Huber regression for rows in partitions: one pass for the gap and curvature at a point, one for the line search."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.partitioned import ClusterLost, Part, PartitionedRows, PassStopped, by_blocks, weights_in
from surefit.solvers.discriminants.counts import Spread, class_spread, merged
from surefit.solvers.discriminants.moments import group
from surefit.solvers.huber import NO_SCALE, Frame, HuberFit, Look, descend

ORTHOGONAL = 1e-10  # relative size of the sum of the dual variables that counts as zero


class Setting(NamedTuple):
    """Data that a partition needs in addition to the point."""

    frame: Frame
    epsilon: float

    def here(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return centered and scaled columns, centered targets, and weights."""
        Z = (np.asarray(part.X, dtype=np.float64) - self.frame.middle) / self.frame.sizes
        Z = np.column_stack([Z, np.ones(len(Z))]) if self.frame.intercept else Z
        return Z, np.asarray(part.y, dtype=np.float64) - self.frame.level, weights_in(part)


class Sums(NamedTuple):
    """Sums over the rows at a point; the first entry belongs to positive derivatives, the second to negative ones."""

    loss: float
    products: np.ndarray  # (2, m) products of the columns with the derivatives
    slopes: np.ndarray  # (2,) sums of the derivatives
    squares: np.ndarray  # (2,) sums of their squares
    targets: np.ndarray  # (2,) sums of their products with the targets
    hessian: np.ndarray  # in the coefficients and the scale


def frame_of(rows: PartitionedRows, intercept: bool) -> Frame:
    """Compute the centers and scales of the columns and of the target in one pass."""
    found: Spread = rows.map_reduce(_spread, combine=merged)
    means, squares, total = found.means[0], found.variances[0], float(found.totals[0])
    if not intercept:
        means, squares = np.zeros_like(means), squares + means**2
    sizes = np.sqrt(squares)
    widths = np.where(sizes[:-1] > 0, sizes[:-1], 1.0)
    return Frame(means[:-1], widths, float(means[-1]), float(sizes[-1]), total, intercept)


def _spread(part: Part) -> Spread:
    table = np.column_stack([np.asarray(part.X, dtype=np.float64), np.asarray(part.y, dtype=np.float64)])
    return class_spread(group(table, np.zeros(len(table), dtype=np.int64), 1, part.weights))


@by_blocks
def derivatives(part: Part, setting: Setting, u: np.ndarray, scale: float) -> Sums:
    """Return the sums that a Newton step and the gap need."""
    (Z, y, s), epsilon = setting.here(part), setting.epsilon
    r = y - Z @ u
    q = np.clip(2 * r / scale, -2 * epsilon, 2 * epsilon)
    sides = np.array([s * np.maximum(q, 0.0), s * np.minimum(q, 0.0)])
    within = np.abs(r) <= epsilon * scale
    A = np.column_stack([Z[within], r[within] / scale]) * np.sqrt(2 * s[within] / scale)[:, None]
    return Sums(_loss(r, s, epsilon, scale), sides @ Z, sides.sum(axis=1), sides @ q, sides @ y, A.T @ A)


@by_blocks
def losses(part: Part, setting: Setting, points: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Return the loss at several points."""
    Z, y, s = setting.here(part)
    return np.array([_loss(y - Z @ u, s, setting.epsilon, scale) for u, scale in points])


def _loss(r: np.ndarray, s: np.ndarray, epsilon: float, scale: float) -> float:
    inside = np.minimum(np.abs(r), epsilon * scale)
    return float(s @ (inside * (2 * np.abs(r) - inside))) / scale


class _Problem:
    """Problem for :func:`surefit.solvers.huber.descend`, evaluated by passes over the partitions."""

    def __init__(self, rows: PartitionedRows, setting: Setting, alpha: float) -> None:
        self.rows, self.setting, self.ridge = rows, setting, setting.frame.ridge(alpha)
        self.total, self.floor = setting.frame.total, setting.frame.floor
        self.best = (math.inf, *setting.frame.start(None))

    def look(self, u: np.ndarray, scale: float) -> Look:
        self.at: Sums = self.rows.map_reduce(derivatives, self.setting, u, scale)
        value = self._objective(u, scale, self.at.loss)
        gradient = np.append(self.ridge * u - self.at.products.sum(axis=0), self.total - self.at.squares.sum() / 4)
        found = Look(value, self._gap(value), gradient)
        self.best = min(self.best, (found.gap, u, scale), key=lambda point: point[0])
        return found

    def curvature(self, u: np.ndarray, scale: float) -> np.ndarray:
        return self.at.hessian.copy()

    def values(self, points: list[tuple[np.ndarray, float]]) -> list[float]:
        found = self.rows.map_reduce(losses, self.setting, points)
        return [self._objective(u, scale, loss) for (u, scale), loss in zip(points, found.tolist(), strict=True)]

    def _objective(self, u: np.ndarray, scale: float, loss: float) -> float:
        return self.total * scale + loss + 0.5 * float(self.ridge @ u**2)

    def _gap(self, value: float) -> float:
        """Return the gap of the derivatives after scaling: their sum is zero with an intercept, and they lie in their ball."""
        at, factors = self.at, np.ones(2)
        if self.setting.frame.intercept and np.any(at.slopes):
            up, down = float(at.slopes[0]), -float(at.slopes[1])
            factors[int(up < down)] = min(up, down) / max(up, down)
        size = float(factors**2 @ at.squares) / 4
        factors = factors * (min(1.0, math.sqrt(self.total / size)) if size > 0 else 1.0)
        v = factors @ at.products
        if self.setting.frame.intercept and abs(v[-1]) > ORTHOGONAL * float(factors @ np.abs(at.slopes)):
            return value
        used = self.ridge > 0
        bound = float(factors @ at.targets) - float(np.sum(v[used] ** 2 / self.ridge[used])) / 2
        return max(min(value - bound, value), 0.0)


def minimize_huber(
    rows: PartitionedRows, *, epsilon: float, alpha: float, intercept: bool, tol: float, budget: Budget, start: Any
) -> HuberFit:
    """Minimize over all rows; ``alpha`` must be positive."""
    frame, none = frame_of(rows, intercept), np.zeros(0)
    if frame.null == 0.0:  # all targets are equal: return their mean and a tiny scale
        return HuberFit(np.zeros(rows.shape[1]), frame.level, NO_SCALE, none, 0.0, 0.0, 0, Reason.CONVERGED, [])
    problem, tolerance = _Problem(rows, Setting(frame, epsilon), alpha), tol * frame.null
    rows.budget = budget
    try:
        u, scale, gap, n_iter, reason, history = descend(problem, *frame.start(start), tolerance, budget)
    except PassStopped as stop:
        (gap, u, scale), n_iter, reason = problem.best, 0, stop.reason
        history = [(budget.seconds, 0, gap)]
    except ClusterLost as error:
        gap, u, scale = problem.best
        w, b = frame.outward(u)
        raise ClusterLost(str(error), {"coef": w, "intercept": b, "scale": scale, "gap": gap}) from None
    finally:
        rows.budget = None
    w, b = frame.outward(u)
    return HuberFit(w, b, scale, none, gap, frame.null, n_iter, reason, history)
