"""Products with the arrays of a CSR matrix; threads share its rows in fixed parts.

Entries are counted by unsigned integers: the compiler need not ask whether an index is negative, which takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_parts, tree_sum

LEAST = 1024  # rows per part
PER_COLUMN = 8  # stored entries per column and part, so that a part takes longer than adding its result to the others


def dots(X: Any, w: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return ``X w``; zero in rows whose weight is zero."""

    def part(start: int, stop: int) -> np.ndarray:
        return _dots(X.data, X.indices, X.indptr[start : stop + 1], w, None if weights is None else weights[start:stop])

    parts = _map(part, X, 0)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def sums(X: Any, v: np.ndarray, d: int) -> np.ndarray:
    """Return ``X' v`` for a matrix with ``d`` columns."""

    def part(start: int, stop: int) -> np.ndarray:
        return _sums(X.data, X.indices, X.indptr[start : stop + 1], v[start:stop], d)

    return tree_sum(_map(part, X, d))


def square_sums(X: Any, v: np.ndarray, d: int) -> np.ndarray:
    """Return ``sum_i v_i x_ij^2`` for every column."""

    def part(start: int, stop: int) -> np.ndarray:
        return _square_sums(X.data, X.indices, X.indptr[start : stop + 1], v[start:stop], d)

    return tree_sum(_map(part, X, d))


def square_norms(X: Any) -> np.ndarray:
    """Return the squared norms of the rows."""
    return np.concatenate(_map(lambda start, stop: _square_norms(X.data, X.indptr[start : stop + 1]), X, 0))


def curvature_times(X: Any, curvatures: np.ndarray, v: np.ndarray, center: bool) -> np.ndarray:
    """Return ``X' D (X v - mean)`` for curvatures ``D``, with the D-weighted mean or zero; rows without curvature are skipped."""
    if center:
        scores = dots(X, v, curvatures)
        mean = curvatures @ scores / max(curvatures.sum(), 1e-300)
        return sums(X, curvatures * (scores - mean), len(v))

    def part(start: int, stop: int) -> np.ndarray:
        return _curvature_times(X.data, X.indices, X.indptr[start : stop + 1], curvatures[start:stop], v)

    return tree_sum(_map(part, X, len(v)))


def _map(part: Callable[[int, int], np.ndarray], X: Any, d: int) -> list[np.ndarray]:
    n = len(X.indptr) - 1
    entries = max(len(X.data) // max(n, 1), 1)  # per row
    return map_parts(part, (n, entries), max(LEAST, PER_COLUMN * d // entries))


@compiled(relaxed=True)
def _dots(data, indices, indptr, w, weights):
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        if weights is None or weights[i] != 0.0:
            dot = 0.0
            for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                dot += data[entry] * w[np.uint64(indices[entry])]
            out[i] = dot
    return out


@compiled
def _sums(data, indices, indptr, v, d):
    out = np.zeros(d)
    for i in range(len(v)):
        value = v[i]
        if value != 0.0:
            for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                out[np.uint64(indices[entry])] += value * data[entry]
    return out


@compiled
def _square_sums(data, indices, indptr, v, d):
    out = np.zeros(d)
    for i in range(len(v)):
        for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[np.uint64(indices[entry])] += v[i] * data[entry] * data[entry]
    return out


@compiled
def _square_norms(data, indptr):
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[i] += data[entry] * data[entry]
    return out


@compiled
def _curvature_times(data, indices, indptr, curvatures, v):
    out = np.zeros(len(v))
    for i in range(len(curvatures)):
        if curvatures[i] > 0.0:
            dot = 0.0
            for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                dot += data[entry] * v[np.uint64(indices[entry])]
            dot *= curvatures[i]
            for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):  # the row is still in the cache
                out[np.uint64(indices[entry])] += dot * data[entry]
    return out
