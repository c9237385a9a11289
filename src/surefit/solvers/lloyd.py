r"""Lloyd's algorithm: assign every point to its nearest centre, move every centre to the mean of its points, repeat.

Both half-steps lower :math:`J = \sum_i w_i \|x_i - c_{l(i)}\|^2` or leave it. Neither value costs a pass over the data:
:math:`J` at the means is :math:`\sum_i w_i \|x_i\|^2 - \sum_k \|S_k\|^2 / N_k` with cluster sums :math:`S_k` and weights
:math:`N_k`, and moving centres by :math:`\delta_k` to the means lowered it by :math:`\sum_k N_k \|\delta_k\|^2` (Huygens).
Sums are kept up to date from the points that changed cluster, and taken afresh before the end.

A cluster that has lost all its points is put on the point farthest from its own centre; if every point sits on its centre,
there are fewer distinct points than clusters and it stays empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, sum_blocks, tree_sum
from surefit.solvers.nearest_centre import Centres, as_centres, assign, no_bounds
from surefit.solvers.points import (
    Summary,
    add_point,
    block_size,
    coordinates,
    inner_products,
    load,
    room,
    squared_distance,
)

TILE = 256


class Partition(NamedTuple):
    """Where Lloyd's algorithm ended."""

    centres: np.ndarray  # (k, d) float64, with the digits of the output type
    labels: np.ndarray  # (n,) int32: nearest centre, lowest index on a tie
    inertias: np.ndarray  # (k,) share of each cluster in J
    sizes: np.ndarray  # (k,) weight of each cluster
    residual: float  # sum_k |mean_k - centre_k|^2
    best_move: float  # largest decrease of J by moving one point to another cluster (both means follow)
    improving_moves: int
    n_iter: int
    n_reseeded: int
    reason: Reason
    history: np.ndarray  # (n_iter, 3): seconds, J after the assignment, J after the means moved

    @property
    def inertia(self) -> float:
        """The objective J."""
        return float(np.sum(self.inertias))


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
    """Run from the centres ``start`` until no label changes, or the centres move by at most ``tolerance`` in all.

    ``tolerance`` bounds the sum of squared moves. Centres are returned with the precision of ``dtype``.
    """
    values = np.array(start, dtype=np.float64)
    d = values.shape[1]
    bounds = no_bounds(len(weights))
    sums = np.zeros((len(values), d + 2))
    moves, history, n_iter, n_reseeded, reason = None, [], 0, 0, None
    while reason is None:
        n_iter += 1
        change, changed = assign(points, weights, as_centres(points, values), bounds, moves, n_jobs)
        sums = _without_dust(sums + change)
        means = _means(points, sums, values)
        lowest, drop = _objective(summary.squares, sums), _weighted_moves(points, values, sums)
        history.append((budget.seconds, lowest + drop, lowest))
        empty = np.flatnonzero(sums[:, d + 1] == 0)
        reseeded = _reseed(points, weights, bounds.labels, values, means, empty)
        n_reseeded += reseeded
        previous, values = values, means
        moves = _lengths(values - previous)
        moved = float(moves @ moves)
        if not reseeded and (changed == 0 or moved <= tolerance):
            reason = Reason.CONVERGED
        reason = reason or budget.spent(n_iter, moved)
        if reason is not None:
            sums = _fresh_sums(points, weights, bounds.labels, len(values), n_jobs)
            values = _means(points, sums, values).astype(dtype).astype(np.float64)
            moves = _lengths(values - previous)
            change, changed = assign(points, weights, as_centres(points, values), bounds, moves, n_jobs)
            if changed and reason is Reason.CONVERGED and tolerance == 0 and budget.spent(n_iter, moved) is None:
                sums, moves, reason = sums + change, np.zeros(len(values)), None  # rounding had hidden a move
    sums = _without_dust(sums + change)
    off = _means(points, sums, values) - values
    inertias, best_move, improving = _audit(
        points, weights, as_centres(points, values), bounds.labels, sums[:, d], n_jobs
    )
    return Partition(
        centres=values,
        labels=bounds.labels,
        inertias=inertias,
        sizes=sums[:, d].copy(),
        residual=float(np.sum(off * off)),
        best_move=best_move,
        improving_moves=improving,
        n_iter=n_iter,
        n_reseeded=n_reseeded,
        reason=reason,
        history=np.array(history, dtype=np.float64).reshape(-1, 3),
    )


def inertia_at(points: Any, weights: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> float:
    """Return J for given centres and labels."""
    norms = np.einsum("kj,kj->k", centres, centres)
    n = len(weights)
    parts = map_blocks(
        lambda a, b: float(weights[a:b] @ _own_distances(points, weights, labels, centres, norms, a, b)),
        n,
        block_size(n),
    )
    return float(tree_sum(parts))


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("kj,kj->k", rows, rows))


def _without_dust(sums: np.ndarray) -> np.ndarray:
    """A cluster without points has sum and weight zero, not what rounding left of them."""
    sums[sums[:, -1] == 0] = 0.0
    return sums


def _means(points: Any, sums: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the means of the clusters; an empty one keeps its centre."""
    weight = sums[:, -2:-1]
    return np.where(weight > 0, sums[:, :-2] / np.where(weight > 0, weight, 1.0) + points.shift, values)


def _objective(squares: float, sums: np.ndarray) -> float:
    filled = sums[sums[:, -2] > 0]
    return max(squares - float(np.sum(np.einsum("kj,kj->k", filled[:, :-2], filled[:, :-2]) / filled[:, -2])), 0.0)


def _weighted_moves(points: Any, values: np.ndarray, sums: np.ndarray) -> float:
    """By how much moving to the means lowers the objective; about the shift, where no digits are lost."""
    filled = sums[:, -2] > 0
    moved = sums[filled, :-2] / sums[filled, -2:-1] - (values[filled] - points.shift)
    return float(_lengths(moved) ** 2 @ sums[filled, -2])


def _reseed(points, weights, labels, values, means, empty) -> int:
    """Put empty clusters on the farthest points that are distinct from each other; return how many were put."""
    if len(empty) == 0:
        return 0
    norms = np.einsum("kj,kj->k", values, values)
    distances = np.concatenate(
        map_blocks(lambda a, b: _own_distances(points, weights, labels, values, norms, a, b), len(weights), 4096)
    )
    placed = 0
    for cluster in empty:
        farthest = int(np.argmax(distances))
        if not distances[farthest] > 0:
            break
        means[cluster] = coordinates(points, farthest)
        placed += 1
        norm = float(means[cluster] @ means[cluster])
        _lower_to_new_centre(points, means[cluster], norm, distances)
    return placed


def _fresh_sums(points, weights, labels, k, n_jobs) -> np.ndarray:
    n, d = len(weights), len(points.shift)

    def work(start: int, stop: int) -> np.ndarray:
        out = np.zeros((k, d + 2))
        _sum_block(points, weights, labels, start, stop, out)
        return out

    return sum_blocks(work, n, block_size(n, k * (d + 2)), n_jobs)


def _audit(points, weights, centres: Centres, labels, sizes, n_jobs) -> tuple[np.ndarray, float, int]:
    """Return J by cluster, the largest decrease that a single move brings, and the number of points that have one."""
    n = len(weights)
    exact = centres._replace(screen=(centres.values - points.shift) * points.scale)
    parts = map_blocks(lambda a, b: _audit_block(points, weights, exact, labels, sizes, a, b), n, block_size(n), n_jobs)
    return tree_sum(p[0] for p in parts), max(p[1] for p in parts), sum(p[2] for p in parts)


@compiled(relaxed=True)
def _own_distances(points, weights, labels, values, norms, start, stop):
    out = np.zeros(stop - start)
    for i in range(start, stop):
        if weights[i] > 0:
            out[i - start] = squared_distance(points, i, values[labels[i]], norms[labels[i]])
    return out


@compiled(relaxed=True)
def _lower_to_new_centre(points, centre, norm, distances):
    for i in range(len(distances)):
        if distances[i] > 0:
            distances[i] = min(distances[i], squared_distance(points, i, centre, norm))


@compiled(relaxed=True)
def _sum_block(points, weights, labels, start, stop, out):
    d = len(points.shift)
    for i in range(start, stop):
        target = out[labels[i]]
        add_point(points, i, weights[i], target[:d])
        target[d] += weights[i]
        target[d + 1] += np.sign(weights[i])


@compiled(relaxed=True)
def _audit_block(points, weights, centres, labels, sizes, start, stop):
    r"""Hartigan's test: moving :math:`x` from a to b changes J by w n_b/(n_b+w) d_b^2 - w n_a/(n_a-w) d_a^2."""
    k, d = centres.values.shape
    scratch, products = np.empty(TILE * room(points)), np.empty(TILE * k)
    chosen = np.arange(start, stop)
    norms, best, own, weight = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    totals, largest, improving = np.zeros(k), 0.0, 0
    halves = np.empty(k)
    for c in range(k):
        halves[c] = 0.5 * np.sum(centres.screen[c] * centres.screen[c])
    longest, rounding = np.max(halves), (d + 8) * 2.0**-48
    back = 1.0 / (points.scale * points.scale)
    for tile in range(0, stop - start, TILE):
        size = min(stop - start - tile, TILE)
        table = products[: k * size].reshape(k, size)
        load(points, chosen, tile, size, scratch, norms)
        inner_products(points, chosen, tile, size, scratch, centres.screen, centres.transposed, table)
        for r in range(size):
            best[r], own[r], weight[r] = np.inf, labels[start + tile + r], weights[start + tile + r]
        for c in range(k):
            half, number = halves[c], float(c)
            for r in range(size):  # selections only, so that points are handled side by side
                price = sizes[c] * (norms[r] + 2 * (half - table[c, r])) / (sizes[c] + weight[r])
                better = (price < best[r]) & (own[r] != number)
                best[r] = price if better else best[r]
        for r in range(size):
            i, a, w = start + tile + r, labels[start + tile + r], weight[r]
            distance = squared_distance(points, i, centres.values[a], centres.norms[a])
            totals[a] += w * distance
            if sizes[a] > w * (1 + 1e-12) and w > 0:
                gain = w * (sizes[a] / (sizes[a] - w) * distance - max(best[r], 0.0) * back)
                if gain > rounding * w * (norms[r] + 2 * longest) * back:
                    improving += 1
                    largest = max(largest, gain)
    return totals, largest, improving
