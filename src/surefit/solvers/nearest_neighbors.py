r"""Exact k nearest neighbors by Euclidean distance, screened by single-precision matrix products.

A tile of values :math:`\|t\|^2 - 2 q^\top t` is computed by one matrix product in single precision of shifted and scaled rows, with an
a-priori bound on its rounding error. A row can be among the k nearest of :math:`q` only if its value is within twice that bound of the
k-th smallest so far. The remaining rows are compared by :math:`\sum_j (q_j - t_j)^2` in double precision; ties go to the row of lowest
index. If too many rows remain for a query (ties, or a distant query), it is compared with all rows in double precision. The result
therefore equals sorting all double-precision distances by (distance, index).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, one_blas_thread

QUERIES = 384  # queries per tile
ROWS = 768  # rows per tile, so that its values stay in the L2 cache
LANE = 64  # values compared with the bound at once
SINGLE = float(np.finfo(np.float32).eps)
LARGEST_SINGLE = 1e15  # scaled norms beyond which squares overflow in single precision


class Rows(NamedTuple):
    """Rows prepared for queries."""

    X: np.ndarray  # (n, d) as given
    shift: np.ndarray  # (d,) subtracted before rounding to single precision
    scale: float
    screen: np.ndarray  # (d + 1, n) float32: -2 times the scaled rows, and their squared lengths
    longest: float  # longest scaled row
    slack: float  # rounding error of the shift in double precision, relative to one scaled norm


def prepare(X: np.ndarray) -> Rows:
    """Prepare dense rows, using 4 (d + 1) bytes per row."""
    shift = X.mean(axis=0, dtype=np.float64)
    n, d = X.shape
    screen = np.empty((d + 1, n), dtype=np.float32)
    about = np.max(np.abs(X - shift), initial=0.0) if n * d <= 2**22 else _largest(X, shift)
    scale = 1.0 / float(2.0 ** np.ceil(np.log2(about))) if about > 0 else 1.0
    longest = 0.0
    for start in range(0, n, 4096):
        piece = slice(start, start + 4096)
        scaled = (X[piece] - shift) * scale
        squares = np.einsum("ij,ij->i", scaled, scaled)
        screen[:d, piece] = (-2.0 * scaled).T
        screen[d, piece] = squares
        longest = max(longest, float(np.sqrt(squares.max())))
    slack = 4 * 2.0**-53 * scale * (np.max(np.abs(shift), initial=0.0) + about) * np.sqrt(d)
    return Rows(X, shift, scale, screen, longest, float(slack))


LARGEST_SCREENED = 128  # number of neighbors up to which lists are kept sorted by insertion


def nearest(rows: Rows, Q: np.ndarray, k: int, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices, (queries, k) each, of the ``k`` nearest rows, nearest first."""
    if k > LARGEST_SCREENED:
        return select_by(
            lambda start, stop: all_distances(rows.X, Q[start:stop], rows.scale), len(Q), len(rows.X), k, n_jobs
        )
    found = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
    with one_blas_thread():
        map_blocks(lambda start, stop: _block(rows, Q, k, found, start, stop), len(Q), QUERIES, n_jobs)
    return np.sqrt(found[0]) / rows.scale, found[1]


def _block(rows: Rows, Q: np.ndarray, k: int, found, start: int, stop: int) -> None:
    d, n = rows.X.shape[1], len(rows.X)
    scaled = (Q[start:stop] - rows.shift) * rows.scale
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    near = lengths < LARGEST_SINGLE
    scaled[~near] = 0.0
    single = np.ones((stop - start, d + 1), dtype=np.float32)
    single[:, :d] = scaled
    # |computed - exact| for every row: products, sums and rounding to single precision, then the rounding of the shift.
    radius = (d + 8) * SINGLE * (2 * lengths * rows.longest + rows.longest**2)
    radius += 2 * rows.slack * (lengths + rows.longest) + rows.slack**2
    capacity = 8 * k + 256
    heaps = np.full((stop - start, k), np.inf, dtype=np.float32)
    kept = np.empty((stop - start, capacity), dtype=np.int64)
    values = np.empty((stop - start, capacity), dtype=np.float32)
    counts = np.where(near, 0, -1).astype(np.int64)  # -1: compare with all rows
    tile = np.empty((stop - start, min(ROWS, n)), dtype=np.float32)
    window = np.nextafter((2 * radius).astype(np.float32), np.float32(np.inf))
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        part = tile if last - first == tile.shape[1] else np.empty((stop - start, last - first), dtype=np.float32)
        np.dot(single, rows.screen[:, first:last], out=part)
        _screen(part, first, window, heaps, kept, values, counts)
    _decide(
        rows.X,
        Q[start:stop],
        rows.scale,
        heaps,
        window,
        kept,
        values,
        counts,
        found[0][start:stop],
        found[1][start:stop],
    )


@compiled(relaxed=True)
def _screen(tile, first, window, heaps, kept, values, counts):
    """Keep every row of the tile whose value is at most the k-th smallest so far plus the error window of its query."""
    queries, rows = tile.shape
    capacity = kept.shape[1]
    for q in range(queries):
        if counts[q] < 0:
            continue
        bound = heaps[q, 0] + window[q]
        for start in range(0, rows, LANE):
            stop = min(start + LANE, rows)
            if not _any_at_most(tile[q, start:stop], bound):
                continue
            for j in range(start, stop):
                value = tile[q, j]
                if value <= bound:
                    if counts[q] == capacity:
                        _drop(heaps[q, 0] + window[q], kept[q], values[q], counts, q)
                        if counts[q] == capacity:
                            counts[q] = -1
                            break
                    kept[q, counts[q]] = first + j
                    values[q, counts[q]] = value
                    counts[q] += 1
                    if value < heaps[q, 0]:
                        _replace_largest(heaps[q], value)
                        bound = heaps[q, 0] + window[q]
            if counts[q] < 0:
                break


@compiled(relaxed=True)
def _any_at_most(values, bound):
    passing = np.int32(0)
    for j in range(len(values)):
        passing += np.int32(1) if values[j] <= bound else np.int32(0)
    return passing > 0


@compiled
def _drop(bound, kept, values, counts, q):
    """Remove candidates that are no longer within the bound."""
    left = 0
    for i in range(counts[q]):
        if values[i] <= bound:
            kept[left], values[left] = kept[i], values[i]
            left += 1
    counts[q] = left


@compiled
def _replace_largest(heap, value):
    """Replace the largest entry of a max-heap by ``value`` and restore the heap."""
    k = len(heap)
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= k:
            break
        if child + 1 < k and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = value


@compiled
def _decide(X, Q, scale, heaps, window, kept, values, counts, distances, indices):
    """Sort the remaining rows by double-precision distance and index; use all rows if there were too many candidates."""
    k = distances.shape[1]
    for q in range(len(Q)):
        size = 0
        if counts[q] < 0:
            for i in range(len(X)):
                size = _insert(distances[q], indices[q], size, k, _squared_distance(X, i, Q, q, scale), i)
        else:
            bound = heaps[q, 0] + window[q]
            for c in range(counts[q]):
                if values[q, c] <= bound:
                    i = kept[q, c]
                    size = _insert(distances[q], indices[q], size, k, _squared_distance(X, i, Q, q, scale), i)


@compiled
def _squared_distance(X, i, Q, q, scale):
    """Return the squared distance in units of a power of two that avoids underflow and overflow."""
    total = 0.0
    for j in range(X.shape[1]):
        difference = (np.float64(Q[q, j]) - np.float64(X[i, j])) * scale
        total += difference * difference
    return total


@compiled
def _insert(distances, indices, size, k, distance, index):
    """Insert into the sorted list of at most k pairs; rows arrive by increasing index, so ties keep their order."""
    if size == k and not distance < distances[k - 1]:
        return size
    place = size if size < k else k - 1
    while place > 0 and distance < distances[place - 1]:
        distances[place], indices[place] = distances[place - 1], indices[place - 1]
        place -= 1
    distances[place], indices[place] = distance, index
    return size + 1 if size < k else k


@compiled
def squares_at(X, Q, indices, scale):
    """Return the scaled squares of the distances of each query to its own rows, by which :func:`nearest` sorts them."""
    found = np.empty(indices.shape)
    for q in range(len(Q)):
        for k in range(indices.shape[1]):
            found[q, k] = _squared_distance(X, indices[q, k], Q, q, scale)
    return found


@compiled
def all_distances(X, Q, scale):
    """Return all distances between queries and rows, (queries, rows), in double precision."""
    found = np.empty((len(Q), len(X)))
    for q in range(len(Q)):
        for i in range(len(X)):
            found[q, i] = np.sqrt(_squared_distance(X, i, Q, q, scale)) / scale
    return found


def select_by(distances, queries: int, rows: int, k: int, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``k`` smallest entries of each row of a matrix that ``distances(start, stop)`` yields by blocks; ties by index."""
    found = np.empty((queries, k)), np.empty((queries, k), dtype=np.int64)

    def block(start: int, stop: int) -> None:
        found[0][start:stop], found[1][start:stop] = least(np.asarray(distances(start, stop), dtype=np.float64), k)

    map_blocks(block, queries, max(1, 2**22 // max(rows, 1)), n_jobs)
    return found


def least(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``k`` smallest entries of each row in order, and their indices; ties go to the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.nearest_neighbors import least
    >>> least(np.array([[2.0, 1.0, 1.0, 0.0]]), 2)
    (array([[0., 1.]]), array([[3, 1]]))
    """
    if values.shape[1] <= 4 * k:
        places = np.argsort(values, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, places, axis=1), places
    bounds = np.partition(values, k - 1, axis=1)[:, k - 1]
    places = np.empty((len(values), k), dtype=np.int64)
    for row, bound in enumerate(bounds):
        below = np.flatnonzero(values[row] < bound)
        ties = np.flatnonzero(values[row] == bound)[: k - len(below)]
        places[row] = np.concatenate([below[np.argsort(values[row, below], kind="stable")], ties])
    return np.take_along_axis(values, places, axis=1), places


def _largest(X, shift) -> float:
    return max(float(np.max(np.abs(X[i : i + 4096] - shift))) for i in range(0, len(X), 4096))
