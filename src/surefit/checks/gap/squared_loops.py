r"""Compiled pass over a block of rows for the squared loss: residuals and their products with the columns, while the rows are in cache.

``columns`` are the sums over rows of :math:`c_i a_{ij} r_i`, :math:`c_i a_{ij}` and :math:`c_i a_{ij}^2`, and ``scalars`` those of
:math:`c_i r_i`, :math:`c_i r_i^2`, :math:`c_i s_i^2`, :math:`c_i y_i^2` and :math:`c_i`, where :math:`r_i = a_i^\top w + b - y_i` and
:math:`s_i = \sum_j |a_{ij} w_j|`. Without weights, :math:`c_i = 1`. The sums over
``PART`` rows are added to the total of their block; those of columns run four rows at a time or in four parallel sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_parts

PART = 256  # number of rows that are summed before they are added to the total
HEIGHT = 4 * PART  # rows whose columns are read together
LEAST = 64  # columns of a part that threads share


def row_terms(used: int, width: int) -> int:
    """Return the number of terms of the longest sum over a row with ``used`` nonzero products, in four or more parallel sums."""
    return min(used, width // 4 + 4) + 4


def part_terms(n: int) -> int:
    """Return the number of terms of the longest sum over a part of a column."""
    return min(n, PART // 4 + 4) + 4


@compiled
def by_rows(A: Any, w: Any, b: Any, y: Any, c: Any, weighted: Any) -> tuple[Any, Any]:
    """Return ``columns`` and ``scalars`` for contiguous rows ``A``."""
    n, d = A.shape
    columns, scalars = np.zeros((3, d)), np.zeros(5)
    part, z, size = np.empty((3, d)), np.empty(PART), np.empty(PART)
    for start in range(0, n, PART):
        stop = min(start + PART, n)
        for i in range(start, stop):
            z[i - start], size[i - start] = _dot(A[i], w)
        _add_scalars(z, size, b, y[start:stop], c[start:stop], weighted, scalars)
        part[:] = 0.0
        if weighted:
            _add_weighted_rows(A[start:stop], z, c[start:stop], part)
        else:
            _add_rows(A[start:stop], z, part)
        for k in range(3):
            for j in range(d):
                columns[k, j] += part[k, j]
    return columns, scalars


@compiled
def by_columns(A: Any, origin: Any, w: Any, b: Any, y: Any, c: Any, weighted: Any) -> tuple[Any, Any]:
    """Return ``columns`` and ``scalars`` for contiguous columns, the rows of ``A``: for ``len(y)`` entries from ``origin``."""
    d, n = A.shape[0], len(y)
    columns, scalars = np.zeros((3, d)), np.zeros(5)
    z = np.empty(HEIGHT)
    for start in range(0, n, HEIGHT):
        stop = min(start + HEIGHT, n)
        rest = y[start:stop], c[start:stop]
        _add_residuals(A, origin + start, w, b, *rest, weighted, z, scalars)
        _add_columns(A, origin + start, z, rest[1], weighted, columns)
    return columns, scalars


def by_wide_columns(A: Any, w: Any, b: Any, y: Any, c: Any, weighted: Any) -> tuple[Any, Any]:
    """Return the result of :func:`by_columns` for all of at most ``HEIGHT`` rows; threads share the columns."""
    z, scalars = np.empty(HEIGHT), np.zeros(5)
    _add_residuals(A, 0, w, b, y, c, weighted, z, scalars)

    def part(first: int, last: int) -> np.ndarray:
        out = np.zeros((3, last - first))
        _add_columns(A[first:last], 0, z, c, weighted, out)
        return out

    return np.concatenate(map_parts(part, A.shape, LEAST), axis=1), scalars


@compiled
def _nonzero(w: Any) -> Any:
    used, count = np.empty(len(w), dtype=np.int64), 0
    for j in range(len(w)):
        used[count] = j
        count += w[j] != 0.0
    return used[:count]


@compiled
def _add_residuals(A: Any, origin: Any, w: Any, b: Any, y: Any, c: Any, weighted: Any, z: Any, scalars: Any) -> None:
    """Write the residuals of the rows from ``origin`` to ``z``, and add their sums; only columns with a coefficient are read."""
    n, size = len(y), np.empty(HEIGHT)
    _combine(A[:, origin : origin + n], w, _nonzero(w), z, size)
    for first in range(0, n, PART):
        last = min(first + PART, n)
        _add_scalars(z[first:], size[first:], b, y[first:last], c[first:last], weighted, scalars)


@compiled
def _add_columns(A: Any, origin: Any, z: Any, c: Any, weighted: Any, columns: Any) -> None:
    n = len(c)
    for j in range(A.shape[0]):
        for first in range(0, n, PART):
            last = min(first + PART, n)
            a = A[j, origin + first : origin + last]
            if weighted:
                _add_weighted_column(a, z[first:], c[first:last], columns, j)
            else:
                _add_column(a, z[first:], columns, j)


@compiled
def squares_about(y: Any, c: Any, offset: Any) -> tuple[Any, Any, Any]:
    """Return the weighted sums of ``y - offset``, of its squares, and of the weights, by parts."""
    total, squares, weight = 0.0, 0.0, 0.0
    for start in range(0, len(y), PART):
        t0, t1, t2 = 0.0, 0.0, 0.0
        for i in range(start, min(start + PART, len(y))):
            r = y[i] - offset
            t0, t1, t2 = t0 + c[i] * r, t1 + c[i] * (r * r), t2 + c[i]
        total, squares, weight = total + t0, squares + t1, weight + t2
    return total, squares, weight


@compiled
def weight_range(c: Any) -> tuple[Any, Any, Any]:
    """Return the smallest weight, the smallest positive one (infinite without any), and the largest one."""
    smallest, positive, largest = np.inf, np.inf, 0.0
    for weight in c:
        smallest, largest = min(smallest, weight), max(largest, weight)
        if weight > 0.0:
            positive = min(positive, weight)
    return smallest, positive, largest


@compiled
def _add_scalars(z: Any, size: Any, b: Any, y: Any, c: Any, weighted: Any, scalars: Any) -> None:
    """Replace scores by residuals and add their sums."""
    t0, t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(y)):
        k = c[i] if weighted else 1.0
        r = (z[i] + b) - y[i]
        z[i] = r
        t0 += k * r
        t1 += k * (r * r)
        t2 += k * (size[i] * size[i])
        t3 += k * (y[i] * y[i])
        t4 += k
    scalars[0] += t0
    scalars[1] += t1
    scalars[2] += t2
    scalars[3] += t3
    scalars[4] += t4


@compiled
def _dot(a: Any, w: Any) -> tuple[Any, Any]:
    """Return the product of a row with ``w`` and the sum of absolute values of its terms, in eight parallel sums."""
    d = len(a)
    whole = d // 8 * 8
    m0, m1, m2, m3, m4, m5, m6, m7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(0, whole, 8):
        p0, p1, p2, p3 = a[j] * w[j], a[j + 1] * w[j + 1], a[j + 2] * w[j + 2], a[j + 3] * w[j + 3]
        p4, p5, p6, p7 = a[j + 4] * w[j + 4], a[j + 5] * w[j + 5], a[j + 6] * w[j + 6], a[j + 7] * w[j + 7]
        m0, m1, m2, m3, m4, m5, m6, m7 = m0 + p0, m1 + p1, m2 + p2, m3 + p3, m4 + p4, m5 + p5, m6 + p6, m7 + p7
        s0, s1, s2, s3 = s0 + abs(p0), s1 + abs(p1), s2 + abs(p2), s3 + abs(p3)
        s4, s5, s6, s7 = s4 + abs(p4), s5 + abs(p5), s6 + abs(p6), s7 + abs(p7)
    m, s = ((m0 + m1) + (m2 + m3)) + ((m4 + m5) + (m6 + m7)), ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for j in range(whole, d):
        p = a[j] * w[j]
        m, s = m + p, s + abs(p)
    return m, s


@compiled
def _combine(A: Any, w: Any, used: Any, z: Any, size: Any) -> None:
    """Set ``z`` to the combination of ``used`` columns, rows of ``A``, and ``size`` to that of their absolute values; four at a time."""
    d, n = len(used), A.shape[1]
    z[:n], size[:n] = 0.0, 0.0
    whole = d // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = used[k], used[k + 1], used[k + 2], used[k + 3]
        a, b, c, e = A[j0], A[j1], A[j2], A[j3]
        u, v, s, t = w[j0], w[j1], w[j2], w[j3]
        for i in range(n):
            p0, p1, p2, p3 = a[i] * u, b[i] * v, c[i] * s, e[i] * t
            z[i] += (p0 + p1) + (p2 + p3)
            size[i] += (abs(p0) + abs(p1)) + (abs(p2) + abs(p3))
    for j in used[whole:]:
        for i in range(n):
            p = A[j, i] * w[j]
            z[i] += p
            size[i] += abs(p)


@compiled
def _add_rows(A: Any, r: Any, part: Any) -> None:
    """Add the products of all columns, four rows at a time."""
    n, d = A.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
        a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        for j in range(d):
            x0, x1, x2, x3 = a0[j], a1[j], a2[j], a3[j]
            part[0, j] += (x0 * r0 + x1 * r1) + (x2 * r2 + x3 * r3)
            part[1, j] += (x0 + x1) + (x2 + x3)
            part[2, j] += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3)
    for i in range(whole, n):
        for j in range(d):
            x = A[i, j]
            part[0, j] += x * r[i]
            part[1, j] += x
            part[2, j] += x * x


@compiled
def _add_weighted_rows(A: Any, r: Any, c: Any, part: Any) -> None:
    # the weight comes last: an underflow before it would be multiplied by a number of any size
    n, d = A.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        for j in range(d):
            x0, x1, x2, x3 = a0[j], a1[j], a2[j], a3[j]
            part[0, j] += ((x0 * r0) * c0 + (x1 * r1) * c1) + ((x2 * r2) * c2 + (x3 * r3) * c3)
            part[1, j] += (x0 * c0 + x1 * c1) + (x2 * c2 + x3 * c3)
            part[2, j] += ((x0 * x0) * c0 + (x1 * x1) * c1) + ((x2 * x2) * c2 + (x3 * x3) * c3)
    for i in range(whole, n):
        for j in range(d):
            x = A[i, j]
            part[0, j] += (x * r[i]) * c[i]
            part[1, j] += x * c[i]
            part[2, j] += (x * x) * c[i]


@compiled
def _add_column(a: Any, r: Any, columns: Any, j: Any) -> None:
    """Add the products of a part of one column, in four parallel sums."""
    n = len(a)
    v0, v1, v2, v3, u0, u1, u2, u3, q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        v0, v1, v2, v3 = v0 + x0 * r[i], v1 + x1 * r[i + 1], v2 + x2 * r[i + 2], v3 + x3 * r[i + 3]
        u0, u1, u2, u3 = u0 + x0, u1 + x1, u2 + x2, u3 + x3
        q0, q1, q2, q3 = q0 + x0 * x0, q1 + x1 * x1, q2 + x2 * x2, q3 + x3 * x3
    v, u, q = (v0 + v1) + (v2 + v3), (u0 + u1) + (u2 + u3), (q0 + q1) + (q2 + q3)
    for i in range(whole, n):
        v, u, q = v + a[i] * r[i], u + a[i], q + a[i] * a[i]
    columns[0, j] += v
    columns[1, j] += u
    columns[2, j] += q


@compiled
def _add_weighted_column(a: Any, r: Any, c: Any, columns: Any, j: Any) -> None:
    n = len(a)
    v0, v1, v2, v3, u0, u1, u2, u3, q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        v0, v1 = v0 + (x0 * r[i]) * c0, v1 + (x1 * r[i + 1]) * c1
        v2, v3 = v2 + (x2 * r[i + 2]) * c2, v3 + (x3 * r[i + 3]) * c3
        u0, u1, u2, u3 = u0 + x0 * c0, u1 + x1 * c1, u2 + x2 * c2, u3 + x3 * c3
        q0, q1, q2, q3 = q0 + (x0 * x0) * c0, q1 + (x1 * x1) * c1, q2 + (x2 * x2) * c2, q3 + (x3 * x3) * c3
    v, u, q = (v0 + v1) + (v2 + v3), (u0 + u1) + (u2 + u3), (q0 + q1) + (q2 + q3)
    for i in range(whole, n):
        v, u, q = v + (a[i] * r[i]) * c[i], u + a[i] * c[i], q + (a[i] * a[i]) * c[i]
    columns[0, j] += v
    columns[1, j] += u
    columns[2, j] += q
