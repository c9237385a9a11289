"""Smoothing splines in exact rational arithmetic, from the textbook's formulas; slow, and never wrong by a digit."""

from fractions import Fraction
from itertools import pairwise

import numpy as np


def rationals(values):
    return [Fraction(float(value)) for value in values]


def merged(x, y, s):
    """Distinct points in order, with the sum of weights and the mean of targets."""
    points = {}
    for point, target, weight in zip(rationals(x), rationals(y), rationals(s), strict=True):
        mass, moment = points.get(point, (Fraction(0), Fraction(0)))
        points[point] = (mass + weight, moment + weight * target)
    knots = sorted(points)
    return knots, [points[k][0] for k in knots], [points[k][1] / points[k][0] for k in knots]


def solve_banded(A, b, width):
    """Gaussian elimination without pivoting (A is positive definite) within a band, in place."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1, min(n, i + width + 1)):
            factor = A[j][i] / A[i][i]
            for k in range(i, min(n, i + width + 1)):
                A[j][k] -= factor * A[i][k]
            b[j] -= factor * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(A[i][k] * b[k] for k in range(i + 1, min(n, i + width + 1)))) / A[i][i]
    return b


def cubic(x, y, s, lam):
    """Distinct points, values and second derivatives of the cubic smoothing spline: Reinsch's equations."""
    knots, w, y = merged(x, y, s)
    strength, n = Fraction(float(lam)) * sum(w), len(knots)
    h = [b - a for a, b in pairwise(knots)]
    Q = [{i: 1 / h[i], i + 1: -1 / h[i] - 1 / h[i + 1], i + 2: 1 / h[i + 1]} for i in range(n - 2)]
    A = [[Fraction(0)] * (n - 2) for _ in Q]
    for i, column in enumerate(Q):
        A[i][i] += (h[i] + h[i + 1]) / 3
        if i + 1 < n - 2:
            A[i][i + 1] += h[i + 1] / 6
            A[i + 1][i] += h[i + 1] / 6
        for j in range(max(0, i - 2), min(n - 2, i + 3)):
            A[i][j] += strength * sum((column[k] * Q[j][k] / w[k] for k in column if k in Q[j]), Fraction(0))
    bend = solve_banded(A, [sum(q * y[k] for k, q in column.items()) for column in Q], 2)
    values = list(y)
    for gamma, column in zip(bend, Q, strict=True):
        for k, q in column.items():
            values[k] -= strength / w[k] * q * gamma
    return np.array([float(k) for k in knots]), np.array([float(v) for v in values]), [0.0, *map(float, bend), 0.0]


def linear(x, y, s, lam, origin=None):
    """Distinct points and values of the linear smoothing spline, zero at ``origin`` if there is one."""
    knots, w, y = merged(x, y, s)
    strength, n = Fraction(float(lam)) * sum(w), len(knots)
    A = [[Fraction(0)] * n for _ in knots]
    for i in range(n):
        A[i][i] += w[i]
        if i + 1 < n:
            stiff = strength / (knots[i + 1] - knots[i])
            for a, b, sign in ((i, i, 1), (i + 1, i + 1, 1), (i, i + 1, -1), (i + 1, i, -1)):
                A[a][b] += sign * stiff
    if origin is not None:
        A[0][0] += strength / (knots[0] - Fraction(float(origin)))
    values = solve_banded(A, [a * b for a, b in zip(w, y, strict=True)], 1)
    return np.array([float(k) for k in knots]), np.array([float(v) for v in values])
