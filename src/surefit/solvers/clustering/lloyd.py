r"""Lloyd's algorithm: assign every point to its nearest center, move every center to the mean of its points, repeat.

Both half-steps decrease :math:`J = \sum_i w_i \|x_i - c_{l(i)}\|^2` or leave it unchanged. The values need no pass over the data:
:math:`J` at the means is :math:`\sum_i w_i \|x_i\|^2 - \sum_k \|S_k\|^2 / N_k` with cluster sums :math:`S_k` and weights :math:`N_k`, and
moving the centers by :math:`\delta_k` to the means lowers it by :math:`\sum_k N_k \|\delta_k\|^2` (Huygens). Sums are updated from the
points that changed cluster, and recomputed before the end.

An empty cluster is moved to the point farthest from its own center. If every point coincides with its center, there are fewer distinct
points than clusters and the cluster stays empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.clustering.assignments import InMemory
from surefit.solvers.clustering.points import Summary


class Partition(NamedTuple):
    """Result of Lloyd's algorithm."""

    centers: np.ndarray  # (k, d) float64, rounded to the precision of the output dtype
    labels: Any  # (n,) int32: nearest center, lowest index on a tie; None for points in partitions
    inertias: np.ndarray  # (k,) contribution of each cluster to J
    sizes: np.ndarray  # (k,) weight of each cluster
    residual: float  # sum_k |mean_k - center_k|^2
    n_iter: int
    n_reseeded: int
    reason: Reason
    history: np.ndarray  # (n_iter, 3): seconds, J after the assignment, J after the means moved

    @property
    def inertia(self) -> float:
        """The objective J."""
        return float(np.sum(self.inertias))


class Descent(NamedTuple):
    """Last centers and sums of Lloyd's algorithm, before the objective is computed from the distances."""

    centers: np.ndarray
    sums: np.ndarray  # (k, d + 2) of the clusters, see :func:`surefit.solvers.clustering.nearest.assign`
    n_iter: int
    n_reseeded: int
    reason: Reason
    history: list[tuple[float, float, float]]


def lloyd(
    points: Any,
    weights: np.ndarray,
    summary: Summary,
    start: np.ndarray,
    *,
    tolerance: float,
    budget: Budget,
    n_jobs: int | None = None,
    dtype: Any = np.float64,
) -> Partition:
    """Run :func:`descend` for points in memory."""
    rows = InMemory(points, weights, len(start), n_jobs)
    return descend(rows, summary, start, tolerance=tolerance, budget=budget, dtype=dtype)


def descend(
    rows: Any, summary: Summary, start: np.ndarray, *, tolerance: float, budget: Budget, dtype: Any = np.float64
) -> Partition:
    """Run :func:`move_centers` and compute the objective."""
    end = move_centers(rows, summary, start, tolerance=tolerance, budget=budget, dtype=dtype)
    d = end.centers.shape[1]
    off = _means(rows.shift, end.sums, end.centers) - end.centers
    return Partition(
        centers=end.centers,
        labels=rows.labels,
        inertias=rows.inertias(end.centers),
        sizes=end.sums[:, d].copy(),
        residual=float(np.sum(off * off)),
        n_iter=end.n_iter,
        n_reseeded=end.n_reseeded,
        reason=end.reason,
        history=np.array(end.history, dtype=np.float64).reshape(-1, 3),
    )


def move_centers(
    rows: Any, summary: Summary, start: np.ndarray, *, tolerance: float, budget: Budget, dtype: Any = np.float64
) -> Descent:
    """Run from the centers ``start`` until no label changes, or the total squared movement of the centers is at most ``tolerance``.

    ``rows`` are points in memory (``InMemory``) or in partitions (``InPartitions``). Centers are returned with the precision of ``dtype``.
    """
    values = np.array(start, dtype=np.float64, order="C")
    d = values.shape[1]
    moves, history, n_iter, n_reseeded, reason = None, [], 0, 0, None
    while reason is None:
        n_iter += 1
        sums, changed = rows.assign(values, moves)
        means, lowest, drop, moves, moved = _step(summary.squares, rows.shift, values, sums)
        history.append((budget.seconds, lowest + drop, lowest))
        filled = np.count_nonzero(sums[:, d + 1]) == len(sums)
        reseeded = 0 if filled else _reseed(rows, values, means, (sums[:, d + 1] == 0).nonzero()[0])
        n_reseeded += reseeded
        previous, values = values, means
        if reseeded:
            moves, moved = _moves(values, previous)
        if not reseeded and (not changed or moved <= tolerance):
            reason = Reason.CONVERGED
        reason = reason or budget.spent(n_iter, moved)
        if reason is not None:
            values = _means(rows.shift, rows.sum_again(), values).astype(dtype).astype(np.float64)
            sums, changed = rows.assign(values, _moves(values, previous)[0])
            if changed and reason is Reason.CONVERGED and tolerance == 0 and budget.spent(n_iter, moved) is None:
                moves, reason = np.zeros(len(values)), None  # rounding hid a move
    return Descent(values, sums, n_iter, n_reseeded, reason, history)


def _moves(values: np.ndarray, previous: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the distances between new and previous centers, and the sum of their squares."""
    squares = np.sum((values - previous) ** 2, axis=1)
    return np.sqrt(squares), float(np.sum(squares))


def _means(shift: np.ndarray, sums: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the means of the clusters; an empty cluster keeps its center."""
    weight = sums[:, -2:-1]
    if weight.min() > 0:
        return sums[:, :-2] / weight + shift
    return np.where(weight > 0, sums[:, :-2] / np.where(weight > 0, weight, 1.0) + shift, values)


@compiled
def _step(squares, shift, values, sums):
    """Return the means (an empty cluster keeps its center), the objective there, and its decrease when the centers move there.

    Both are computed about the shift for accuracy. Also return the distances to the means and the sum of their squares.
    """
    k, d = values.shape
    means, lengths, explained, drop, total = np.empty((k, d)), np.empty(k), 0.0, 0.0, 0.0
    for c in range(k):
        weight, square, move, distance = sums[c, d], 0.0, 0.0, 0.0
        for j in range(d):
            if weight > 0.0:
                mean = sums[c, j] / weight
                off = mean - (values[c, j] - shift[j])
                means[c, j] = mean + shift[j]
                square += sums[c, j] * sums[c, j]
                move += off * off
                step = means[c, j] - values[c, j]
                distance += step * step
            else:
                means[c, j] = values[c, j]
        if weight > 0.0:
            explained += square / weight
            drop += weight * move
        lengths[c] = np.sqrt(distance)
        total += distance
    return means, max(squares - explained, 0.0), drop, lengths, total


def _reseed(rows: Any, values: np.ndarray, means: np.ndarray, empty: np.ndarray) -> int:
    """Move empty clusters to the farthest distinct points; return the number of moved clusters."""
    for placed, cluster in enumerate(empty):
        distance, point = rows.farthest(values, means[empty[:placed]])
        if not distance > 0:
            return placed
        means[cluster] = point
    return len(empty)
