r"""Proved quantities of centers and labels: inertia, nearest centers, means, and single moves.

:math:`\sum_j (x_{ij} - c_j)^2` has a relative error of at most :math:`\gamma_{d+4}`. Distances to the other centers are first computed from
inner products with a rounding radius; for undecided rows they are then computed directly (theory: ``k-means``). One pass over the rows, in
memory or in partitions, computes the sums of the clusters and compares the distances. The claim about single moves needs the cluster means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.clusters.blocks import over_blocks
from surefit.checks.eigen import dense, rows_at_once, weights_of
from surefit.checks.enclosure import UNIT, Bound, gamma
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.jit import compiled
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data

PIECE = 1024  # rows whose table of distances stays in the cache


class _Sums(NamedTuple):
    """Sums over the rows of one or more partitions."""

    squares: np.ndarray  # (2,) sum of the weighted squared distances, and the rounding errors of this sum
    off: np.ndarray  # (k, d) sum of the differences to the centers
    spread: np.ndarray  # (k, d) of their absolute values
    largest: float
    heaviest: np.ndarray  # (k,) weight of the heaviest row
    holder: np.ndarray  # (k,) its index, -1 for an empty cluster
    others: np.ndarray  # (2, k) weight of the other rows, and the rounding errors of this sum
    nearest: np.ndarray  # (2,) value and rounding of the bound on how much nearer another center is
    near: np.ndarray  # (n, 3) squared distance from the own center, least one from the others, its radius; may be empty
    levels: int = 0  # number of times that partitions were joined

    @property
    def sizes(self) -> np.ndarray:
        """Weights of the clusters."""
        return self.others[0] + self.others[1] + self.heaviest


class Partition(NamedTuple):
    """Proved quantities of the certified centers and labels."""

    inertia: float
    radius: float  # of the inertia
    total: float  # weight of all rows
    scatter: float  # about the mean of all rows
    largest: float  # absolute value of an entry
    means: Bound  # sum of squared distances of the centers from the means of their rows
    nearest: Bound  # largest squared distance by which another center is nearer
    sums: _Sums
    moved: np.ndarray  # (k,) largest distances of the means from the centers
    near: np.ndarray  # for each row: see _Sums; without rows on partitions, or if no labels are stored


@shared
def partition_of(certificate: Certificate, data: Data) -> Partition:
    """Return the proved quantities for the stored labels, or for the nearest centers if no labels are stored."""
    centers, labels = stored(certificate, data)
    (_, d), n = centers.shape, data.X.shape[0]
    kept = bool(labels) and not isinstance(data.X, PartitionedRows)
    near = np.empty((n if kept else 0, 3))
    sliced = (*labels, near) if kept else labels
    sums = over_blocks(certificate, data, _sums, centers, combine=_joined, sliced=sliced)
    # Number of successive additions, for any division of the rows.
    depth = min(PIECE, n) + -(-n // PIECE) + -(-n // _step(d)) + sums.levels
    few = 8 + math.ceil(n * n * UNIT)  # units of rounding of a sum of n terms with a sum of its rounding errors
    filled = np.where(sums.sizes > 0, sums.sizes, 1.0)[:, None]
    off = sums.off / filled
    off_radius = gamma(depth + 8) * sums.spread / filled * (1 + gamma(few))
    moved = np.sqrt(np.sum((np.abs(off) + off_radius) ** 2, axis=1)) * (1 + gamma(d + 8))
    squares = float(np.sum(sums.squares))
    return Partition(
        squares,
        gamma(d + 8 + few + sums.levels) * squares,
        math.fsum(sums.sizes),
        _scatter(squares, sums.sizes, centers, off),
        sums.largest,
        Bound(math.fsum(moved**2) * (1 + gamma(4)), _rounding_of_squares(off, off_radius)),
        Bound(*sums.nearest.tolist()),
        sums,
        moved,
        near,
    )


def stored(certificate: Certificate, data: Data) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the centers, and a tuple of the labels, which is empty if no labels are stored."""
    centers = np.ascontiguousarray(certificate.model["cluster_centers_"], dtype=np.float64)
    fits = centers.ndim == 2 and centers.shape[1] == data.X.shape[1] and bool(np.isfinite(centers).all())
    labels: tuple[np.ndarray, ...] = ()
    if "labels_" in certificate.model:
        given = np.asarray(certificate.model["labels_"])
        fits = fits and given.shape == (data.X.shape[0],) and given.dtype.kind in "iu" and len(given) > 0
        fits = fits and bool(given.min() >= 0) and bool(given.max() < len(centers))
        labels = (given.astype(np.int64),)
    if not fits:
        raise ValueError("the labels do not name one of the centers for each row")
    return centers, labels


def _sums(part: Part, centers: np.ndarray, labels: np.ndarray | None = None, near: np.ndarray | None = None) -> _Sums:
    (k, d), weights = centers.shape, weights_of(part)
    pair, table, vector, none = np.zeros(2), np.zeros((k, d)), np.zeros(k), np.empty((0, 3))
    largest, shift, product = 0.0, *_shifted(centers)
    found = _Sums(pair, table, table.copy(), 0.0, vector, np.full(k, -1), np.zeros((2, k)), pair.copy(), none)
    units = gamma(d + 6), 2 * gamma(d + 16)
    for piece, X, own in pieces(part, centers, labels):
        kept = found._replace(near=none if near is None else near[piece])
        start = part.start + piece.start
        largest = max(largest, _add_pieces(X, weights[piece], own, start, centers, shift, product, units, kept))
    return found._replace(largest=largest)


@compiled
def _add_pieces(
    X: Any, weights: Any, own: Any, start: Any, centers: Any, shift: Any, product: Any, units: Any, sums: Any
) -> float:
    """Add rows to the sums, piece by piece, and return the largest entry; one call for many rows lets threads run side by side."""
    (n, d), top = X.shape, 0.0
    rows, table, about = np.ones((PIECE, d + 1)), np.empty((PIECE, len(centers))), np.empty((2, PIECE))
    longest = math.sqrt(product[d].max())
    for first in range(0, n, PIECE):
        count = min(PIECE, n - first)
        for r in range(count):
            length = 0.0
            for j in range(d):
                value = X[first + r, j]
                top = max(top, abs(value))
                rows[r, j] = value - shift[j]
                length += rows[r, j] * rows[r, j]
            about[0, r], about[1, r] = length, units[1] * (math.sqrt(length) + longest) ** 2
        np.dot(rows[:count], product, table[:count])
        _add_rows(X, weights, own, start, first, count, centers, table, about, units[0], sums)
    return top


@compiled
def _add_rows(
    X: Any, weights: Any, own: Any, start: Any, first: Any, count: Any, centers: Any, table: Any, about: Any,
    unit: Any, sums: Any,
) -> None:  # fmt: skip
    """Add rows to the sums, and compare the distances from their centers with those in ``table`` (:func:`_differences`).

    Distances are computed directly unless all other centers are farther by three radii, so that every order of
    summation leads to the same decision. The weight of the heaviest row of a cluster is kept apart, because differences
    of rounded sums would lose light rows next to a heavy one.
    """
    k, d = centers.shape
    off, spread = np.zeros((k, d)), np.zeros((k, d))
    for r in range(count):
        i = first + r
        a, weight, distance = own[i], weights[i], 0.0
        for j in range(d):
            difference = X[i, j] - centers[a, j]
            distance += difference * difference
            off[a, j] += weight * difference
            spread[a, j] += weight * abs(difference)
        _add_exactly(sums.squares, weight * distance)
        lighter = weight
        if sums.holder[a] < 0 or weight > sums.heaviest[a]:
            lighter, sums.heaviest[a], sums.holder[a] = sums.heaviest[a], weight, start + i
        _add_exactly(sums.others[:, a], lighter)
        least = np.inf
        for c in range(k):
            if c != a and table[r, c] < least:
                least = table[r, c]
        least += about[0, r]
        if len(sums.near):
            sums.near[i, 0], sums.near[i, 1], sums.near[i, 2] = distance, least, about[1, r]
        if k > 1 and not distance <= least - 3 * about[1, r]:
            least = _least_distance(X[i], centers, a)
            rounding = 2 * unit * (distance + least)
            sums.nearest[0] = max(sums.nearest[0], distance - least + rounding)
            sums.nearest[1] = max(sums.nearest[1], rounding)
    for a in range(k):
        for j in range(d):
            sums.off[a, j] += off[a, j]
            sums.spread[a, j] += spread[a, j]


@compiled
def _add_exactly(pair: Any, term: Any) -> None:
    """Add a number to ``pair[0]`` and the rounding error of this sum to ``pair[1]``."""
    before = pair[0]
    pair[0] = before + term
    step = pair[0] - before
    pair[1] += (before - (pair[0] - step)) + (term - step)


@compiled
def _least_distance(x: Any, centers: Any, own: Any) -> Any:
    """Return the smallest squared distance from the other centers."""
    least = np.inf
    for c in range(len(centers)):
        total = 0.0
        for j in range(len(x)):
            difference = x[j] - centers[c, j]
            total += difference * difference
        if c != own and total < least:
            least = total
    return least


def _joined(a: _Sums, b: _Sums) -> _Sums:
    """Combine the sums of two neighboring partitions."""
    first = (a.heaviest >= b.heaviest) & (a.holder >= 0)
    return _Sums(
        a.squares + b.squares,
        a.off + b.off,
        a.spread + b.spread,
        max(a.largest, b.largest),
        np.where(first, a.heaviest, b.heaviest),
        np.where(first, a.holder, b.holder),
        a.others + b.others + np.where(first, [b.heaviest, 0 * b.heaviest], [a.heaviest, 0 * a.heaviest]),
        np.maximum(a.nearest, b.nearest),
        a.near,
        max(a.levels, b.levels) + 1,
    )


def _step(d: int) -> int:
    """Return the number of rows that are dense at a time."""
    return rows_at_once(d)


def pieces(
    part: Part, centers: np.ndarray, labels: np.ndarray | None
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield blocks of rows with their labels; without labels, each row belongs to its nearest center."""
    n, rows = part.X.shape[0], _step(centers.shape[1])
    for start in range(0, n, rows):
        piece = slice(start, min(start + rows, n))
        X = np.ascontiguousarray(dense(part.X[piece]))
        yield piece, X, _nearest(X, centers) if labels is None else labels[piece]


def _nearest(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the nearest centers; close calls are decided by direct distances, and ties go to the lowest index."""
    table, radius = distances(X, centers)
    labels = np.argmin(table, axis=1)
    best = table[np.arange(len(X)), labels]
    table[np.arange(len(X)), labels] = np.inf
    doubtful = np.flatnonzero(~(table.min(axis=1) - best > 4 * radius))
    for rows in _few(doubtful, centers):
        labels[rows] = np.argmin(np.sum((X[rows, None, :] - centers) ** 2, axis=2), axis=1)
    return labels


def _few(rows: np.ndarray, centers: np.ndarray) -> Iterator[np.ndarray]:
    """Divide the rows so that their differences to all centers need moderate memory."""
    step = max(1, 2**20 // centers.size)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _rounding_of_squares(off: np.ndarray, radius: np.ndarray) -> float:
    return math.fsum(((2 * np.abs(off) + radius) * radius).ravel()) * (1 + gamma(8)) + gamma(16) * math.fsum(
        off.ravel() ** 2
    )


def _scatter(inertia: float, sizes: np.ndarray, centers: np.ndarray, off: np.ndarray) -> float:
    """Return the total scatter about the mean: within the clusters plus between their means."""
    used = sizes > 0
    away = centers[used] - centers[used][0] + off[used]
    away -= sizes[used] @ away / math.fsum(sizes)
    within = inertia - math.fsum(sizes * np.sum(off**2, axis=1))
    return max(within, 0.0) + math.fsum(sizes[used] * np.sum(away**2, axis=1))


def distances(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return squared distances of all rows to all centers by inner products, and one radius per row."""
    table, (lengths, radius) = _differences(X, centers)
    table += lengths[:, None]
    return table, radius


def _differences(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return squared distances to the centers minus that to their mean; and, for each row, the latter and a radius."""
    (shift, product), d = _shifted(centers), X.shape[1]
    Y = np.ones((len(X), d + 1))
    np.subtract(X, shift, out=Y[:, :d])
    lengths = np.einsum("ij,ij->i", Y[:, :d], Y[:, :d])
    radius = gamma(d + 16) * 2 * (np.sqrt(lengths) + math.sqrt(product[d].max())) ** 2
    return Y @ product, np.stack([lengths, radius])


def _shifted(centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the centers, and the matrix that turns a shifted row with a one into differences of distances."""
    shift = centers.mean(axis=0)
    Z = centers - shift
    return shift, np.vstack([-2.0 * Z.T, np.einsum("kj,kj->k", Z, Z)])
