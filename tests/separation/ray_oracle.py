"""Which kind of separation, by enumerating the extreme rays of {v : A v >= 0} in integers; no linear program anywhere."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def independent_columns(A):
    """Columns of an integer matrix that form a basis of its column space."""
    rows = [[Fraction(int(x)) for x in row] for row in A]
    basis, used = [], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(used, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[used], rows[pivot] = rows[pivot], rows[used]
        for i in range(used + 1, len(rows)):
            f = rows[i][j] / rows[used][j]
            rows[i] = [x - f * y for x, y in zip(rows[i], rows[used], strict=True)]
        basis.append(j)
        used += 1
    return basis


def determinant(M):
    """Integer determinant by expansion; for the tiny matrices of this file."""
    if len(M) == 0:
        return 1
    return sum((-1) ** j * int(M[0][j]) * determinant([[*r[:j], *r[j + 1 :]] for r in M[1:]]) for j in range(len(M)))


def orthogonal(rows, p):
    """The vector of signed minors: orthogonal to p - 1 rows, zero if they are dependent."""
    rows = [list(map(int, row)) for row in rows]
    return [(-1) ** j * determinant([[*r[:j], *r[j + 1 :]] for r in rows]) for j in range(p)]


def kind_of_separation(A):
    """``strict``, ``weak`` or ``overlap`` for integer rows ``A`` of any size (already signed and lifted)."""
    A = np.array([[int(x) for x in row] for row in A], dtype=object)
    # The values A v stay the same, and now the cone has a vertex: it is the sum of its extreme rays.
    A = A[:, independent_columns(A)]
    p = A.shape[1]
    if p == 0:
        return "overlap"
    inner = np.zeros(p, dtype=object)
    distinct = sorted(set(map(tuple, A.tolist())))
    for rows in combinations(distinct, p - 1):
        ray = np.array(orthogonal(rows, p), dtype=object)
        if not ray.any():
            continue
        scores = A @ ray
        if min(scores) >= 0:
            inner = inner + ray
        if max(scores) <= 0:
            inner = inner - ray
    scores = A @ inner
    return "strict" if min(scores) > 0 else "weak" if max(scores) > 0 else "overlap"
