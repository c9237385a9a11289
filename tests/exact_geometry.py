"""Margins and hulls of labeled rows in exact arithmetic, by enumeration; for a dozen rows in three dimensions."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def rational(values):
    """The floats of a vector or a matrix as fractions."""
    values = np.asarray(values, dtype=np.float64)
    return [Fraction(float(v)) for v in values] if values.ndim == 1 else [rational(row) for row in values]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def eliminated(A, b):
    """The solution of ``A x = b`` by elimination; None for a singular matrix."""
    rows, n = [[*row, right] for row, right in zip(A, b, strict=True)], len(b)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if rows[pivot][i] == 0:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [p - factor * q for p, q in zip(rows[r], rows[i], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def gram(rows, t, beta=0):
    """Inner products of the signed rows; ``beta`` is the square of a constant feature."""
    return [
        [int(a) * int(b) * (dot(p, q) + beta) for q, b in zip(rows, t, strict=True)]
        for p, a in zip(rows, t, strict=True)
    ]


def squared_hull_distance(G, most):
    """Squared distance between the origin and the hull of points with inner products ``G``, in subsets of up to ``most`` points.

    The nearest point of the hull is the nearest point of the affine hull of some independent points, with weights of one sign.
    If it is not the origin, its square is that of the largest margin of a direction.
    """
    best = min(G[i][i] for i in range(len(G)))
    for size in range(2, most + 1):
        for chosen in combinations(range(len(G)), size):
            weights = eliminated([[G[i][j] + 1 for j in chosen] for i in chosen], [1] * size)
            if weights is None or any(w < 0 for w in weights) or not any(weights):
                continue
            total = sum(weights)
            square = sum(
                p * q * G[i][j]
                for p, i in zip(weights, chosen, strict=True)
                for q, j in zip(weights, chosen, strict=True)
            )
            best = min(best, square / total**2)
    return best


def squared_gap_of_hulls(rows, t, most):
    """Square of half the distance between the hulls of the two classes: the widest margin of a hyperplane, if it is positive."""
    ups, downs = ([row for row, s in zip(rows, t, strict=True) if s == sign] for sign in (1, -1))
    apart = [[(p - q) / 2 for p, q in zip(a, b, strict=True)] for a in ups for b in downs]
    return squared_hull_distance(gram(apart, [1] * len(apart)), most)


def weighted_square(G, alpha):
    """Square of the point of the hull with weights in proportion to ``alpha``."""
    used = [i for i, a in enumerate(alpha) if a]
    return sum(alpha[i] * alpha[j] * G[i][j] for i in used for j in used) / sum(alpha) ** 2


def at_most_root(value, square):
    """Whether the float ``value`` is at most the root of ``square``, exactly."""
    return value <= 0 or Fraction(value) ** 2 <= square


def at_least_root(value, square):
    """Whether the float ``value`` is at least the root of ``square``, exactly."""
    return value >= 0 and Fraction(value) ** 2 >= square
