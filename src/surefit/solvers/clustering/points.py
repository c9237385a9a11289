r"""Rows of a data matrix as points: distances to centers and sums, for dense and sparse storage.

Products are computed after ``shift`` (the mean) is subtracted and, for dense points, after scaling by a power of two.
Data far from the origin thus keep full accuracy, and single precision can be used for screening. Final distances are
computed directly as :math:`\sum_j (x_{ij} - c_j)^2` for dense points, and by :math:`\|x\|^2 - 2 x^\top c + \|c\|^2` for
sparse points.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.threads import sum_blocks


class DensePoints(NamedTuple):
    """Dense matrix in C order, read in place."""

    values: np.ndarray
    shift: np.ndarray  # (d,)
    scale: float  # a power of two: shifted and scaled entries are of the order of one


class SparsePoints(NamedTuple):
    """Stored entries of a sparse matrix, row by row (CSR); the shift is zero."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    shift: np.ndarray  # zeros: subtracting a mean would fill the matrix
    scale: float  # one


@generic
def squared_distance(points, i, center, norm):
    """Return ``|x_i - center|^2``; ``norm = |center|^2``."""


@generic
def room(points):
    """Return the number of scratch entries that ``load`` uses per point."""


@generic
def load(points, chosen, first, count, scratch, norms):
    """Prepare the points ``chosen[first : first + count]``: shifted and scaled rows to ``scratch``, squares to ``norms``."""


@generic
def inner_products(points, chosen, first, count, scratch, vectors, transposed, out):
    """Set ``out[k, r] = <vectors[k], point r>`` of the loaded points; vectors are shifted and scaled like them."""


@generic
def add_point(points, i, weight, target):
    """Add ``weight (x_i - shift)`` to ``target``."""


@generic
def dot_point(points, i, vector):
    """Return ``<x_i, vector>``, summed from left to right."""


class Summary(NamedTuple):
    """Summary statistics of the points."""

    total_weight: float
    mean: np.ndarray
    scatter: float  # sum_i w_i |x_i - mean|^2
    squares: float  # sum_i w_i |x_i - shift|^2


def read_points(X, weights: np.ndarray, n_jobs: int | None = None) -> tuple[Any, Summary]:
    """Return the points of ``X`` and their summary, identical for any ``n_jobs``."""
    total = float(np.sum(weights))
    mean = weighted_sum(X, weights, n_jobs) / total
    points = as_points(X, mean)
    squares = weighted_squares(points, weights, n_jobs)
    if isinstance(points, SparsePoints):
        scatter = max(squares - total * float(mean @ mean), 0.0)
    else:
        scatter = squares
        points = points._replace(scale=power_of_two(scatter / total))
    return points, Summary(total, mean, scatter, squares)


def weighted_sum(X, weights: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the sum of ``w_i x_i``."""
    n = X.shape[0]
    return sum_blocks(
        lambda a, b: np.asarray(weights[a:b] @ X[a:b], dtype=np.float64).ravel(), n, block_size(n), n_jobs
    )


def weighted_squares(points: Any, weights: np.ndarray, n_jobs: int | None = None) -> float:
    """Return the sum of ``w_i |x_i - shift|^2``."""
    n = len(weights)
    return float(sum_blocks(lambda a, b: _weighted_squares(points, weights, a, b), n, block_size(n), n_jobs))


def as_points(X, shift: np.ndarray, scale: float = 1.0) -> Any:
    """Return the points of ``X``; C order and CSR are read in place, other layouts are converted."""
    if sparse.issparse(X):
        rows = X.tocsr()
        if not rows.has_canonical_format:  # duplicate entries would be squared separately
            rows = rows.copy()
            rows.sum_duplicates()
        columns, starts = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int64)
        return SparsePoints(rows.data, columns, starts, np.zeros(X.shape[1]), 1.0)
    return DensePoints(np.ascontiguousarray(X), shift, scale)


def power_of_two(square: float) -> float:
    """Return a power of two that scales vectors of mean square ``square`` to order one."""
    return 2.0 ** -math.frexp(math.sqrt(square))[1] if 0 < square < math.inf else 1.0


def coordinates(points: Any, i: int) -> np.ndarray:
    """Return point ``i`` as a dense vector, with its stored precision."""
    if isinstance(points, SparsePoints):
        place = np.zeros(len(points.shift))
        add_point(points, i, 1.0, place)
        return place
    return points.values[i].astype(np.float64)


def coordinates_of(points: Any, rows: np.ndarray) -> np.ndarray:
    """Return the points ``rows`` as a dense matrix."""
    if isinstance(points, SparsePoints):
        return np.array([coordinates(points, i) for i in rows])
    return points.values[rows].astype(np.float64, copy=False)


def block_size(n: int, width: int = 1) -> int:
    """Return the number of rows per block for results of ``width`` numbers. It depends on the problem alone, so sums have a fixed order.

    There are at most 64 blocks, and fewer if their results are large; blocks are large enough to make the overhead of threads negligible.
    Blocks have about the same number of rows, and their number is a multiple of four if possible, so that threads end at the same time.
    """
    pieces = min(64, max(4, 2**21 // width), max(1, n // 16384))
    return max(1, -(-n // (pieces - pieces % 4 or pieces)))


@compiled(relaxed=True)
def _weighted_squares(points, weights, start, stop):
    total = 0.0
    for i in range(start, stop):
        total += weights[i] * squared_distance(points, i, points.shift, 0.0)  # the shift of sparse points is zero
    return total


# --- dense --------------------------------------------------------------------------------------------------------------


@squared_distance.register(DensePoints)
def _(points, i, center, norm):
    total = 0.0
    for j in range(len(center)):
        difference = points.values[i, j] - center[j]
        total += difference * difference
    return total


@room.register(DensePoints)
def _(points):
    return len(points.shift)


@load.register(DensePoints)
def _(points, chosen, first, count, scratch, norms):
    d = len(points.shift)
    for r in range(count):
        i = chosen[first + r]
        total = 0.0
        for j in range(d):
            value = (points.values[i, j] - points.shift[j]) * points.scale
            scratch[r, j] = value
            total += value * value
        norms[r] = total


@inner_products.register(DensePoints)
def _(points, chosen, first, count, scratch, vectors, transposed, out):
    np.dot(vectors, scratch[:count].T, out)


@add_point.register(DensePoints)
def _(points, i, weight, target):
    for j in range(len(target)):
        target[j] += weight * (points.values[i, j] - points.shift[j])


@dot_point.register(DensePoints)
def _(points, i, vector):
    total = 0.0
    for j in range(len(vector)):
        total += points.values[i, j] * vector[j]
    return total


# --- sparse -------------------------------------------------------------------------------------------------------------


@squared_distance.register(SparsePoints)
def _(points, i, center, norm):
    total, square = 0.0, 0.0
    for k in range(points.starts[i], points.starts[i + 1]):
        value = np.float64(points.values[k])
        square += value * value
        total += value * center[points.columns[k]]
    return max(square - 2.0 * total + norm, 0.0)


@room.register(SparsePoints)
def _(points):
    return 0


@load.register(SparsePoints)
def _(points, chosen, first, count, scratch, norms):
    for r in range(count):
        i = chosen[first + r]
        total = 0.0
        for k in range(points.starts[i], points.starts[i + 1]):
            value = np.float64(points.values[k])
            total += value * value
        norms[r] = total


@inner_products.register(SparsePoints)
def _(points, chosen, first, count, scratch, vectors, transposed, out):
    sums = np.empty(vectors.shape[0])
    for r in range(count):
        i = chosen[first + r]
        sums[:] = 0.0
        for k in range(points.starts[i], points.starts[i + 1]):
            value = np.float64(points.values[k])
            column = points.columns[k]
            for c in range(len(sums)):
                sums[c] += value * transposed[column, c]
        for c in range(len(sums)):
            out[c, r] = sums[c]


@add_point.register(SparsePoints)
def _(points, i, weight, target):
    for k in range(points.starts[i], points.starts[i + 1]):
        target[points.columns[k]] += weight * points.values[k]


@dot_point.register(SparsePoints)
def _(points, i, vector):
    total = 0.0
    for k in range(points.starts[i], points.starts[i + 1]):
        total += points.values[k] * vector[points.columns[k]]
    return total
