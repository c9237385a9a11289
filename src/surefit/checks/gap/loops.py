"""Compiled passes over a matrix that compute products, their absolute sizes and squared norms together.

Rows of ``A`` are contiguous in memory; a matrix stored by columns is passed transposed. ``dots`` computes the product
with each row of ``A``, ``sums`` the linear combination of all rows. Both return the products, the same with absolute
values, and sums of squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled

PART = 256  # number of terms that are summed before they are added to the total


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


@compiled
def sums(A: Any, t: Any) -> Any:
    """Return ``A' t``, ``|A|' |t|`` and the squared norms of the columns, summed by parts."""
    n, d = A.shape
    out, part = np.zeros((3, d)), np.empty((3, d))
    for start in range(0, n, PART):
        part[:] = 0.0
        for i in range(start, min(start + PART, n)):
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
def sparse_dots(values: Any, indices: Any, starts: Any, t: Any) -> np.ndarray:
    """Return the result of :func:`dots` for sparse rows."""
    n = len(starts) - 1
    out = np.zeros((3, n))
    for i in range(n):
        m, s, q = 0.0, 0.0, 0.0
        for k in range(starts[i], starts[i + 1]):
            p = values[k] * t[indices[k]]
            m, s, q = m + p, s + abs(p), q + values[k] * values[k]
        out[0, i], out[1, i], out[2, i] = m, s, q
    return out


@compiled
def sparse_sums(values: Any, indices: Any, starts: Any, t: Any, width: Any) -> Any:
    """Return the result of :func:`sums` for sparse rows, without parts, and the numbers of stored entries."""
    out = np.zeros((width, 4))
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            j = indices[k]
            p = values[k] * t[i]
            out[j, 0] += p
            out[j, 1] += abs(p)
            out[j, 2] += values[k] * values[k]
            out[j, 3] += 1.0
    return out.T
