r"""Nearest centers with few distance computations.

For every point, an upper bound on the distance to its center and a lower bound on the distance to all others are kept
(Hamerly 2010). When centers move, the triangle inequality updates both bounds. Distances are computed only for points
that the bounds do not decide, for all centers together, by a matrix product in single precision. If this does not
separate the two nearest centers, double precision decides. The result equals a comparison of
:math:`\sum_j (x_{ij} - c_{kj})^2` over all :math:`k` in double precision; ties go to the center of lowest index.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, tree_sum
from surefit.solvers.clustering.points import (
    SparsePoints,
    add_point,
    block_size,
    inner_products,
    load,
    room,
    squared_distance,
)

TILE = 256  # points per matrix product
SCAN = 2048  # points whose bounds are checked before products are computed
SAFETY = 1 + 1e-11  # covers the rounding of bounds after thousands of updates
WIDEST_SINGLE = 256  # number of columns up to which single precision is accurate enough for screening
NONE = np.zeros((0, 0))  # no transposed centers


class Centers(NamedTuple):
    """Centers with precomputed quantities for screening."""

    values: np.ndarray  # (k, d), float64
    norms: np.ndarray  # (k,) squared lengths
    screen: np.ndarray  # (k, d) shifted and scaled like the points, float32 or float64
    transposed: np.ndarray  # (d, k) the same for sparse points
    halves: np.ndarray  # (k,) half the squared lengths of ``screen``
    longest: float  # longest of ``screen``
    unit: float  # relative error of a product is at most this times the two lengths


class Bounds(NamedTuple):
    """Bounds of each point, kept between two assignments."""

    labels: np.ndarray  # (n,) int32; -1 before the first assignment
    upper: np.ndarray
    lower: np.ndarray


def as_centers(points: Any, values: np.ndarray) -> Centers:
    """Prepare centers for comparison with ``points``."""
    d = values.shape[1]
    scaled, norms, halves, longest = _screened(values, points.shift, points.scale)
    if isinstance(points, SparsePoints):
        norms = np.einsum("kj,kj->k", values, values)
        return Centers(values, norms, scaled, np.ascontiguousarray(scaled.T), halves, longest, (d + 8) * 2.0**-52)
    kind, unit = (np.float32, 2.0**-23) if d <= WIDEST_SINGLE else (np.float64, 2.0**-52)
    return Centers(values, norms, scaled.astype(kind), NONE, halves.astype(kind), longest, (d + 8) * unit)


@compiled
def _screened(values, shift, scale):
    """Return shifted and scaled centers, squared lengths of the centers, half those of the scaled ones, and the longest of these."""
    k, d = values.shape
    scaled, norms, halves, longest = np.empty((k, d)), np.empty(k), np.empty(k), 0.0
    for c in range(k):
        norm = square = 0.0
        for j in range(d):
            entry = (values[c, j] - shift[j]) * scale
            scaled[c, j] = entry
            norm += values[c, j] * values[c, j]
            square += entry * entry
        norms[c], halves[c] = norm, 0.5 * square
        longest = max(longest, square)
    return scaled, norms, halves, np.sqrt(longest)


def no_bounds(n: int) -> Bounds:
    """Return trivial bounds: every point is compared with every center."""
    return Bounds(np.full(n, -1, dtype=np.int32), np.zeros(n), np.zeros(n))


def assign(
    points: Any,
    weights: np.ndarray,
    centers: Centers,
    bounds: Bounds,
    moves: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, int]:
    """Update ``bounds`` (labels and both bounds) for ``centers``, which moved by ``moves`` since the last call.

    Return the change of the cluster sums, and the number of points that changed cluster. The sums have shape (k, d +
    2): sum of shifted points, weight, and number of points of positive weight. ``moves=None`` compares every point with
    every center.
    """
    n, (k, d) = len(weights), centers.values.shape
    first = moves is None
    if moves is None:
        moves = drops = separation = np.zeros(k)  # not read
    else:
        drops, separation = _limits(moves, centers.values, k * k <= n)

    def work(start: int, stop: int):
        change = np.zeros((k, d + 2))
        changed = _assign_block(points, weights, centers, bounds, moves, drops, separation, start, stop, first, change)
        return change, changed

    if n <= (size := block_size(n, k * (d + 2))):
        return work(0, n)
    parts = map_blocks(work, n, size, n_jobs)
    return tree_sum(part[0] for part in parts), sum(part[1] for part in parts)


def nearest(points: Any, n: int, values: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the index of the nearest center of each point."""
    labels = np.empty(n, dtype=np.int32)
    centers = as_centers(points, values)
    map_blocks(lambda a, b: _label_block(points, centers, labels, a, b), n, block_size(n), n_jobs)
    return labels


@compiled
def _limits(moves, values, near):
    """Return the largest move of another center, and if ``near`` half the distance to the nearest other center, for each center."""
    k, largest, second = len(moves), 0, 0.0
    for a in range(1, k):
        largest = a if moves[a] > moves[largest] else largest
    drops = np.empty(k)
    for a in range(k):
        drops[a] = moves[largest]
        second = max(second, moves[a]) if a != largest else second
    drops[largest] = second  # the center of a point is not one of the others
    return drops, _half_separation(values) if near else np.zeros(k)


@compiled
def _half_separation(values):
    """Return half the distance of each center to the nearest other center."""
    k, d = values.shape
    nearest = np.empty(k)
    for a in range(k):
        nearest[a] = np.inf
        for b in range(a):
            total = 0.0
            for j in range(d):
                difference = values[a, j] - values[b, j]
                total += difference * difference
            nearest[a] = min(nearest[a], total)
            nearest[b] = min(nearest[b], total)
    for a in range(k):
        nearest[a] = 0.5 * math.sqrt(nearest[a])
    return nearest


@compiled(relaxed=True)
def _assign_block(points, weights, centers, bounds, moves, drops, separation, start, stop, first, change):
    d = centers.values.shape[1]
    scratch = np.empty((TILE, room(points)), dtype=centers.screen.dtype)
    chosen = np.empty(SCAN, dtype=np.int64)
    found = np.empty(TILE, dtype=np.int64)
    changed = 0
    for begin in range(start, stop, SCAN):
        end = min(stop, begin + SCAN)
        if first:
            count = end - begin
            for r in range(count):
                chosen[r] = begin + r
        else:
            count = _scan(bounds, moves, drops, separation, begin, end, chosen)
            count = _tighten(points, centers, bounds, separation, chosen, count)
        for tile in range(0, count, TILE):
            size = min(count - tile, TILE)
            _compare(points, centers, bounds, chosen, tile, size, scratch, found)
            for r in range(size):
                i = chosen[tile + r]
                old, new = bounds.labels[i], found[r]
                if new != old:
                    changed += 1
                    bounds.labels[i] = new
                    _move(points, i, weights[i], change[new], d)
                    if old >= 0:
                        _move(points, i, -weights[i], change[old], d)
    return changed


@compiled(relaxed=True)
def _label_block(points, centers, labels, start, stop):
    scratch = np.empty((TILE, room(points)), dtype=centers.screen.dtype)
    chosen = np.empty(stop - start, dtype=np.int64)
    for i in range(stop - start):
        chosen[i] = start + i
    square = centers.longest * centers.longest
    for tile in range(0, stop - start, TILE):
        size = min(stop - start - tile, TILE)
        norms, best, second, index = screen(points, centers, chosen, tile, size, scratch)
        for r in range(size):
            margin = centers.unit * (norms[r] + 3 * square) + 1e-12 * norms[r]  # 2 sqrt(norm) longest <= norm + square
            certain = second[r] - best[r] > 2 * margin
            labels[start + tile + r] = np.int64(index[r]) if certain else _decide(points, start + tile + r, centers)


@compiled(relaxed=True)
def _move(points, i, weight, target, d):
    add_point(points, i, weight, target[:d])
    target[d] += weight
    target[d + 1] += np.sign(weight)


@compiled(relaxed=True)
def _scan(bounds, moves, drops, separation, begin, end, chosen):
    """Update the bounds and select the undecided points, without branches, because most points are decided."""
    count = 0
    for i in range(begin, end):
        own = bounds.labels[i]
        upper = bounds.upper[i] + moves[own]
        lower = bounds.lower[i] - drops[own]
        bounds.upper[i] = upper
        bounds.lower[i] = lower
        chosen[count] = i
        count += not (upper * SAFETY < max(lower, separation[own]))
    return count


@compiled(relaxed=True)
def _tighten(points, centers, bounds, separation, chosen, count):
    """Replace the upper bound by the distance; keep the points that are still undecided."""
    kept = 0
    for r in range(count):
        i = chosen[r]
        own = bounds.labels[i]
        upper = np.sqrt(squared_distance(points, i, centers.values[own], centers.norms[own]))
        bounds.upper[i] = upper
        chosen[kept] = i
        kept += not (upper * SAFETY < max(bounds.lower[i], separation[own]))
    return kept


@compiled(relaxed=True)
def _compare(points, centers, bounds, chosen, first, size, scratch, found):
    """Compare the selected points with all centers: write the nearest center to ``found`` and new bounds to ``bounds``."""
    norms, best, second, index = screen(points, centers, chosen, first, size, scratch)
    for r in range(size):
        i = chosen[first + r]
        margin = 2 * centers.unit * centers.longest * (np.sqrt(norms[r]) + centers.longest) + 1e-12 * norms[r]
        other = second[r]
        if second[r] - best[r] > 2 * margin:
            found[r] = np.int64(index[r])
        else:
            found[r] = _decide(points, i, centers)
            other = best[r]  # the nearest center may be the second candidate
        bounds.upper[i] = np.sqrt(max(norms[r] + 2 * (best[r] + margin), 0.0)) / points.scale
        bounds.lower[i] = np.sqrt(max(norms[r] + 2 * (other - margin), 0.0)) / points.scale


@compiled(relaxed=True)
def screen(points, centers, chosen, first, size, scratch):
    """Return the squared length, the smallest and second smallest cost, and the index of the smallest, for each selected point."""
    k = centers.values.shape[0]
    norms = np.empty(size)
    best, second = np.empty(size, dtype=centers.screen.dtype), np.empty(size, dtype=centers.screen.dtype)
    index = np.empty(size, dtype=centers.screen.dtype)  # floats, so that the selection is vectorized like the others
    for r in range(size):
        best[r], second[r], index[r] = np.inf, np.inf, 0.0
    table = np.empty((k, size), dtype=centers.screen.dtype)
    load(points, chosen, first, size, scratch, norms)
    inner_products(points, chosen, first, size, scratch, centers.screen, centers.transposed, table)
    for c in range(k):
        half, number = centers.halves[c], centers.screen.dtype.type(c)
        for r in range(size):  # selections only, so that the loop is vectorized
            value = half - table[c, r]
            less = value < best[r]
            loser = best[r] if less else value
            best[r] = value if less else best[r]
            index[r] = number if less else index[r]
            second[r] = loser if loser < second[r] else second[r]
    return norms, best, second, index


@compiled(relaxed=True)
def _decide(points, i, centers):
    """Return the nearest center by distances in double precision; ties go to the lowest index."""
    least, answer = np.inf, 0
    for c in range(centers.values.shape[0]):
        distance = squared_distance(points, i, centers.values[c], centers.norms[c])
        if distance < least:
            least, answer = distance, c
    return answer
