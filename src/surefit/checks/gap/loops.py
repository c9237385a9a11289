"""Compiled passes over a matrix that compute products, their absolute sizes and squared norms together.

Rows of ``A`` are contiguous in memory; a matrix stored by columns is passed transposed. ``dots`` computes the product
with each row of ``A``, ``sums`` the linear combination of all rows. Both return the products, the same with absolute
values, and sums of squares; ``products`` omits the squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_parts, tree_sum

PART = 256  # number of terms that are summed before they are added to the total
TILE = 16  # number of rows that are transposed together, so that sums of different rows run in parallel
NARROW = 64  # number of columns up to which a tile fits in the cache
LEAST = 1024  # number of rows per part that threads share
PER_COLUMN = 24  # stored entries per column and part, so that a part takes longer than adding its sums to the others


@compiled
def dots(A: Any, t: Any) -> np.ndarray:
    """Return ``A t``, ``|A| |t|`` and the squared norms of the rows, with four parallel sums."""
    n, d = A.shape
    out = np.zeros((3, n))
    for i in range(n):
        a = A[i]
        for start in range(0, d, 4 * PART):
            stop = min(start + 4 * PART, d)
            m0, m1, m2, m3, s0, s1, s2, s3, q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range((stop - start) // 4):
                j = start + 4 * k
                x0, x1, x2, x3 = a[j], a[j + 1], a[j + 2], a[j + 3]
                p0, p1, p2, p3 = x0 * t[j], x1 * t[j + 1], x2 * t[j + 2], x3 * t[j + 3]
                m0, m1, m2, m3 = m0 + p0, m1 + p1, m2 + p2, m3 + p3
                s0, s1, s2, s3 = s0 + abs(p0), s1 + abs(p1), s2 + abs(p2), s3 + abs(p3)
                q0, q1, q2, q3 = q0 + x0 * x0, q1 + x1 * x1, q2 + x2 * x2, q3 + x3 * x3
            for j in range(start + (stop - start) // 4 * 4, stop):
                m0, s0, q0 = m0 + a[j] * t[j], s0 + abs(a[j] * t[j]), q0 + a[j] * a[j]
            out[0, i] += (m0 + m1) + (m2 + m3)
            out[1, i] += (s0 + s1) + (s2 + s3)
            out[2, i] += (q0 + q1) + (q2 + q3)
    return out


def products(A: Any, t: Any) -> np.ndarray:
    """Return ``A t`` and ``|A| |t|``; threads share the rows of a narrow matrix."""
    if A.shape[1] > NARROW:
        return dots(A, t)[:2]
    parts = map_parts(lambda start, stop: _products_by_tiles(A[start:stop], t, TILE), A.shape, LEAST)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


@compiled
def _products_by_tiles(A: Any, t: Any, height: Any) -> np.ndarray:
    # the height is an argument, because a loop of constant length would be unrolled instead of vectorized
    n, d = A.shape
    out, tile, sums = np.empty((2, n)), np.zeros((d, height)), np.empty((2, height))
    for start in range(0, n, height):
        count = min(height, n - start)
        for i in range(count):
            for j in range(d):
                tile[j, i] = A[start + i, j]
        sums[:] = 0.0
        for j in range(d):
            for i in range(height):
                p = tile[j, i] * t[j]
                sums[0, i] += p
                sums[1, i] += abs(p)
        for i in range(count):
            out[0, start + i], out[1, start + i] = sums[0, i], sums[1, i]
    return out


def sums(A: Any, t: Any) -> Any:
    """Return ``A' t``, ``|A|' |t|`` and the squared norms of the columns; threads share the rows in fixed parts."""
    return tree_sum(map_parts(lambda start, stop: _sums_by_parts(A[start:stop], t[start:stop]), A.shape, LEAST))


@compiled
def _sums_by_parts(A: Any, t: Any) -> Any:
    # of few columns two rows at a time
    n, d = A.shape
    out, part = np.zeros((3, d)), np.empty((3, d))
    for start in range(0, n, PART):
        part[:] = 0.0
        stop = min(start + PART, n)
        whole = start + (stop - start) // 2 * 2 if d <= NARROW else start
        for i in range(start, whole, 2):
            left, right = t[i], t[i + 1]
            for j in range(d):
                x, u = A[i, j], A[i + 1, j]
                p, q = x * left, u * right
                part[0, j] += p + q
                part[1, j] += abs(p) + abs(q)
                part[2, j] += x * x + u * u
        for i in range(whole, stop):
            for j in range(d):
                x = A[i, j]
                p = x * t[i]
                part[0, j] += p
                part[1, j] += abs(p)
                part[2, j] += x * x
        for k in range(3):
            for j in range(d):
                out[k, j] += part[k, j]
    return out


@compiled
def pair_sums(A: Any, t: Any, u: Any, out: Any) -> None:
    """Add ``A' t``, ``A' u`` and the squared norms of the columns to ``out``; its last row is the largest absolute entries."""
    n, d = A.shape
    part, top = np.empty((3, d)), np.zeros(d)
    for start in range(0, n, PART):
        part[:] = 0.0
        stop = min(start + PART, n)
        whole = start + (stop - start) // 2 * 2
        for i in range(start, whole, 2):  # two rows at a time, which halves the traffic of the sums
            t0, t1, u0, u1 = t[i], t[i + 1], u[i], u[i + 1]
            for j in range(d):
                x, z = A[i, j], A[i + 1, j]
                part[0, j] += x * t0 + z * t1
                part[1, j] += x * u0 + z * u1
                part[2, j] += x * x + z * z
                size = abs(x) if abs(x) > abs(z) else abs(z)
                top[j] = size if size > top[j] else top[j]
        for i in range(whole, stop):
            for j in range(d):
                x = A[i, j]
                part[0, j] += x * t[i]
                part[1, j] += x * u[i]
                part[2, j] += x * x
                top[j] = abs(x) if abs(x) > top[j] else top[j]
        for k in range(3):
            for j in range(d):
                out[k, j] += part[k, j]
    for j in range(d):
        out[3, j] = max(out[3, j], top[j])


def sparse_dots(values: Any, indices: Any, starts: Any, t: Any) -> np.ndarray:
    """Return the result of :func:`dots` for sparse rows, which threads share."""
    n = len(starts) - 1
    shape = n, len(values) // max(n, 1)
    parts = map_parts(lambda first, last: dots_of_rows(values, indices, starts[first : last + 1], t), shape, LEAST)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


@compiled
def dots_of_rows(values: Any, indices: Any, starts: Any, t: Any) -> np.ndarray:
    """Return the result of :func:`sparse_dots` for one part of the rows."""
    n = len(starts) - 1
    out = np.zeros((3, n))
    for i in range(n):
        m, s, q = 0.0, 0.0, 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):  # unsigned: no index is tested for its sign
            p = values[k] * t[np.uint64(indices[k])]
            m, s, q = m + p, s + abs(p), q + values[k] * values[k]
        out[0, i], out[1, i], out[2, i] = m, s, q
    return out


def sparse_sums(values: Any, indices: Any, starts: Any, t: Any, width: int) -> Any:
    """Return the result of :func:`sums` for sparse rows, and the numbers of stored entries; threads share the rows in fixed parts."""

    def part(first: int, last: int) -> np.ndarray:
        return _sparse_sums(values, indices, starts[first : last + 1], t[first:last], np.zeros((width, 4)))

    return tree_sum(map_parts(part, *sparse_parts(values, starts, width))).T


def sparse_parts(values: Any, starts: Any, width: int) -> tuple[tuple[int, int], int]:
    """Return the shape and the least number of rows of a part, for :func:`map_parts` of sums over sparse rows."""
    n = len(starts) - 1
    entries = len(values) // max(n, 1)  # per row
    return (n, entries), max(LEAST, PER_COLUMN * width // max(entries, 1))


@compiled
def _sparse_sums(values: Any, indices: Any, starts: Any, t: Any, out: Any) -> Any:
    for i in range(len(starts) - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = np.uint64(indices[k])
            p = values[k] * t[i]
            out[j, 0] += p
            out[j, 1] += abs(p)
            out[j, 2] += values[k] * values[k]
            out[j, 3] += 1.0
    return out


@compiled
def sparse_pair_sums(values: Any, indices: Any, starts: Any, t: Any, u: Any, out: Any) -> None:
    """Add the sums of :func:`pair_sums` for sparse rows, and the numbers of stored entries, to ``out``, which has a row per column."""
    for i in range(len(starts) - 1):
        left, right = t[i], u[i]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, x = np.uint64(indices[k]), values[k]
            out[j, 0] += x * left
            out[j, 1] += x * right
            out[j, 2] += x * x
            out[j, 3] += 1.0
