r"""Proved quantities of centers and labels: inertia, nearest centers, means, and single moves.

:math:`\sum_j (x_{ij} - c_j)^2` has a relative error of at most :math:`\gamma_{d+4}`. Distances to the other centers are
first computed from inner products with a rounding radius; for undecided rows they are then computed directly (theory:
``k-means``). Two passes over the rows, in memory or in partitions, compute the sums of the clusters and then the
comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.eigen import dense, rows_at_once, weights_of
from surefit.checks.enclosure import Bound, gamma
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, over_rows
from surefit.core.sample import Data


class Partition(NamedTuple):
    """Proved quantities of the certified centers and labels."""

    inertia: float
    radius: float  # of the inertia
    total: float  # weight of all rows
    scatter: float  # about the mean of all rows
    largest: float  # absolute value of an entry
    means: Bound  # sum of squared distances of the centers from the means of their rows
    nearest: Bound  # largest squared distance by which another center is nearer
    move: Bound  # largest decrease of the inertia by the move of one row


@shared
def partition_of(certificate: Certificate, data: Data) -> Partition:
    """Return the proved quantities for the stored labels, or for the nearest centers if no labels are stored."""
    centers = np.asarray(certificate.model["cluster_centers_"], dtype=np.float64)
    fits = centers.ndim == 2 and centers.shape[1] == data.X.shape[1] and bool(np.isfinite(centers).all())
    labels: tuple[np.ndarray, ...] = ()
    if "labels_" in certificate.model:
        given = np.asarray(certificate.model["labels_"])
        fits = fits and given.shape == (data.X.shape[0],) and given.dtype.kind in "iu" and len(given) > 0
        fits = fits and bool(given.min() >= 0) and bool(given.max() < len(centers))
        labels = (given.astype(np.int64),)
    if not fits:
        raise ValueError("the labels do not name one of the centers for each row")
    sums = over_rows(data.X, data.weights, _sums, centers, combine=_joined, sliced=labels)
    return _examine(data, centers, labels, sums)


class _Sums(NamedTuple):
    """Sums over the rows of one or more partitions."""

    squares: float
    off: np.ndarray  # (k, d) sum of the differences to the centers
    spread: np.ndarray  # (k, d) of their absolute values
    levels: int  # number of times that partitions were joined
    largest: float
    sizes: np.ndarray  # (k,) weights of the clusters
    heaviest: np.ndarray  # (k,) weight of the heaviest row
    holder: np.ndarray  # (k,) its index, -1 for an empty cluster
    others: np.ndarray  # (k,) weight of the other rows


def _sums(part: Part, centers: np.ndarray, labels: np.ndarray | None = None) -> _Sums:
    k, d = centers.shape
    weights, own = weights_of(part), np.empty(part.X.shape[0], dtype=np.int64)
    squares, off, spread, largest = [], np.zeros((k, d)), np.zeros((k, d)), 0.0
    for piece, X, found in _pieces(part, centers, labels):
        own[piece], w = found, weights[piece]
        difference = X - centers[found]
        squares.append(math.fsum(w * np.einsum("ij,ij->i", difference, difference)))
        members = sparse.csr_array((w, (found, np.arange(len(found)))), shape=(k, len(found)))
        off += members @ difference
        spread += members @ np.abs(difference)
        largest = max(largest, float(np.max(np.abs(X), initial=0.0)))
    return _Sums(math.fsum(squares), off, spread, 0, largest, *_groups(weights, own, k, part.start))


def _groups(weights: np.ndarray, labels: np.ndarray, k: int, start: int) -> tuple[np.ndarray, ...]:
    """Sum the weights exactly, because differences of rounded sums would lose light rows next to a heavy one."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    sizes, heaviest, holder, others = np.zeros(k), np.zeros(k), np.full(k, -1), np.zeros(k)
    for c in range(k):
        mine = order[ends[c] : ends[c + 1]]
        if len(mine):
            place = int(np.argmax(weights[mine]))
            holder[c], heaviest[c], sizes[c] = start + mine[place], weights[mine[place]], math.fsum(weights[mine])
            others[c] = math.fsum(np.delete(weights[mine], place))
    return sizes, heaviest, holder, others


def _joined(a: _Sums, b: _Sums) -> _Sums:
    """Combine the sums of two neighboring partitions."""
    first = (a.heaviest >= b.heaviest) & (a.holder >= 0)
    return _Sums(
        a.squares + b.squares,
        a.off + b.off,
        a.spread + b.spread,
        max(a.levels, b.levels) + 1,
        max(a.largest, b.largest),
        a.sizes + b.sizes,
        np.where(first, a.heaviest, b.heaviest),
        np.where(first, a.holder, b.holder),
        np.where(first, a.others + b.sizes, b.others + a.sizes),
    )


def _pieces(
    part: Part, centers: np.ndarray, labels: np.ndarray | None
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield blocks of rows with their labels; without labels, each row belongs to its nearest center."""
    n, rows = part.X.shape[0], rows_at_once(centers.shape[1])
    for start in range(0, n, rows):
        piece = slice(start, min(start + rows, n))
        X = dense(part.X[piece])
        yield piece, X, _nearest(X, centers) if labels is None else labels[piece]


def _nearest(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the nearest centers; close calls are decided by direct distances, and ties go to the lowest index."""
    table, radius = _distances(X, centers)
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


def _examine(data: Data, centers: np.ndarray, labels: tuple[np.ndarray, ...], sums: _Sums) -> Partition:
    (k, d), n = centers.shape, data.X.shape[0]
    depth = (
        min(rows_at_once(d), n) + -(-n // rows_at_once(d)) + sums.levels
    )  # number of successive additions, for any division of the rows
    filled = np.where(sums.sizes > 0, sums.sizes, 1.0)[:, None]
    off = sums.off / filled
    off_radius = gamma(depth + 8) * sums.spread / filled * (1 + gamma(8))
    moved = np.sqrt(np.sum((np.abs(off) + off_radius) ** 2, axis=1)) * (1 + gamma(d + 8))
    nearest = move = Bound(0.0, 0.0)
    if k > 1:
        nearest, move = over_rows(
            data.X, data.weights, _other_centers, centers, sums.sizes, sums.holder, sums.others, moved,
            combine=_larger_of_both, sliced=labels,
        )  # fmt: skip
    return Partition(
        sums.squares,
        gamma(d + 16 + sums.levels) * sums.squares,
        math.fsum(sums.sizes),
        _scatter(sums.squares, sums.sizes, centers, off),
        sums.largest,
        Bound(math.fsum(moved**2) * (1 + gamma(4)), _rounding_of_squares(off, off_radius)),
        nearest,
        move,
    )


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


def _other_centers(
    part: Part, centers: Any, sizes: Any, holder: Any, others: Any, moved: Any, labels: Any = None
) -> tuple[Bound, Bound]:
    """Compare each row's distance with those to the other centers, and bound the gain of moving it."""
    weights, nearest, move = weights_of(part), Bound(0.0, 0.0), Bound(0.0, 0.0)
    for piece, X, own in _pieces(part, centers, labels):
        difference = X - centers[own]
        distances = np.einsum("ij,ij->i", difference, difference)
        table, radius = _distances(X, centers)
        table[np.arange(len(X)), own] = np.inf
        nearest = _larger(nearest, _excess(X, centers, own, distances, table, radius))
        rest = sizes[own] - weights[piece]
        heavy = holder[own] == part.start + np.arange(piece.start, piece.stop)
        rest[heavy] = others[own[heavy]]
        move = _larger(move, _gains(weights[piece], own, rest, sizes, distances, table, radius, moved))
    return nearest, move


def _larger_of_both(a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    return _larger(a[0], b[0]), _larger(a[1], b[1])


def _larger(one: Bound, other: Bound) -> Bound:
    return Bound(max(one.value, other.value), max(one.spread, other.spread))


def _distances(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return squared distances of all rows to all centers by inner products, and one radius per row."""
    shift = centers.mean(axis=0)
    Y, Z = X - shift, centers - shift
    lengths = np.einsum("ij,ij->i", Y, Y)
    squares = np.einsum("kj,kj->k", Z, Z)
    table = Y @ (-2.0 * Z.T)
    table += squares
    table += lengths[:, None]
    return table, gamma(X.shape[1] + 16) * 2 * (np.sqrt(lengths) + math.sqrt(squares.max())) ** 2


def _excess(X: Any, centers: Any, own: Any, distance: Any, table: Any, radius: Any) -> Bound:
    """Bound by how much some row is nearer to another center.

    Distances are computed directly unless all other centers are farther by three radii, so that every order of
    summation leads to the same decision.
    """
    doubtful = np.flatnonzero(~(distance <= table.min(axis=1) - 3 * radius))
    bound = Bound(0.0, 0.0)
    for rows in _few(doubtful, centers):
        direct = np.sum((X[rows, None, :] - centers) ** 2, axis=2)
        direct[np.arange(len(rows)), own[rows]] = np.inf
        direct = direct.min(axis=1)
        rounding = 2 * gamma(X.shape[1] + 6) * (distance[rows] + direct)
        bound = _larger(bound, Bound(float(np.max(distance[rows] - direct + rounding)), float(np.max(rounding))))
    return bound


def _gains(w: Any, own: Any, rest: Any, sizes: Any, distance: Any, table: Any, radius: Any, moved: Any) -> Bound:
    """Bound the decrease of the inertia by Hartigan moves; ``moved`` bounds the distances of means from centers."""
    can = (rest > 0) & (w > 0)
    if not can.any():
        return Bound(0.0, 0.0)
    w, own, rest, distance, table, radius = w[can], own[can], rest[can], distance[can], table[can], radius[can]
    far = (np.sqrt(distance) + moved[own]) ** 2
    near = np.maximum(np.sqrt(np.maximum(table - radius[:, None], 0.0)) - moved, 0.0) ** 2
    cost = np.min(sizes / (sizes + w[:, None]) * near, axis=1)
    leaving = w * (w / rest + 1.0) * far
    rounding = gamma(64) * (leaving + w * cost) + 2 * w * radius
    gain = leaving - w * cost + rounding
    worst = int(np.argmax(gain))
    return Bound(max(float(gain[worst]), 0.0), float(np.max(rounding[gain > -2 * rounding], initial=0.0)))
