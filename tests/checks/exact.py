"""Truth for tests of claims: floats as numbers with sixty digits, small samples of hard data, and minima of smooth convex functions."""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

DIGITS = 60
SAMPLES = ("scales", "offsets", "ties")


class Sample(NamedTuple):
    """Rows, a target, labels 0 and 1, three labels, and weights of which one is zero."""

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    k: np.ndarray
    w: np.ndarray


def sample(name, n=10, seed=0):
    """Columns of 1e-6 and 1e6; columns far from the origin; or small integers with equal rows."""
    rng = np.random.default_rng([len(name), n, seed])
    if name == "ties":
        X = rng.integers(-2, 3, size=(n, 2)).astype(float)
        X[1] = X[0]
    else:
        scale, shift = {"scales": ([1e-6, 1e6], 0.0), "offsets": ([1.0, 1e-2], [1e5, -10.0])}[name]
        X = rng.normal(size=(n, 2)) * scale + shift
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = Z[:, 0] - 0.5 * Z[:, 1] + 0.3 * rng.normal(size=n)
    rank = np.argsort(np.argsort(y))
    c, k = (rank + rank % 3 > n // 2).astype(int), rank * 3 // n
    c[rank % 5 == 1] ^= 1  # no line separates the classes
    k[rank == 0] = 2
    w = rng.choice([0.5, 1.0, 3.0], size=n)
    w[np.argsort(y)[n // 3]] = 0.0
    return Sample(X, y, c, k, w)


def standard(X):
    """Rows of a hard sample in units of about one, rounded: for methods that a unit of 1e6 makes meaningless."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


# --- numbers ----------------------------------------------------------------------------------------------------------


def number(value):
    """A float, an integer or a fraction with many digits."""
    if isinstance(value, Fraction):
        return mpf(value.numerator) / mpf(value.denominator)
    return value if isinstance(value, mpf) else mpf(float(value))


def numbers(values):
    return [number(v) for v in np.ravel(values).tolist()]


def matrix(array):
    return mpmath.matrix(np.atleast_2d(np.asarray(array, dtype=np.float64)).tolist())


def column(vector):
    return mpmath.matrix(numbers(vector))


def inner(a, b):
    return mpmath.fsum(p * q for p, q in zip(a, b, strict=True))


def form(v, A):
    return (v.T * A * v)[0]


def squared_distance(a, b):
    return mpmath.fsum((number(p) - number(q)) ** 2 for p, q in zip(a, b, strict=True))


def rbf(A, B, gamma):
    """Matrix of the kernel exp(-gamma |a - b|^2)."""
    return mpmath.matrix([[mpmath.exp(-number(gamma) * squared_distance(a, b)) for b in B] for a in A])


def coordinates(X, gamma):
    """Rows of the features in an orthonormal basis of their span: inner products are the values of the kernel exp(-gamma |a - b|^2)."""
    distinct = np.unique(X, axis=0)
    L = mpmath.cholesky(rbf(distinct, distinct, gamma))
    values = rbf(X, distinct, gamma)
    return mpmath.matrix([list(mpmath.lu_solve(L, values[i, :].T)) for i in range(len(X))])


def require_upper(claim, truth, largest, number_of=None):
    """The claim, or a number of it, is at least the truth, and no larger than ``largest``, beyond which it would say nothing."""
    value = claim.value if number_of is None else claim.numbers[number_of]
    name = claim.name if number_of is None else f"{claim.name} {number_of}"
    assert mpf(float(value)) >= truth, f"{name}: {value} is claimed, {mpmath.nstr(truth, 20)} is true"
    assert value <= largest, (
        f"{name}: {value} is claimed, {mpmath.nstr(truth, 20)} is true, at most {largest} is useful"
    )


# --- minima -----------------------------------------------------------------------------------------------------------


def newton(evaluate, start):
    """Minimize a convex function by Newton's method with halved steps; ``evaluate`` returns value, gradient and Hessian."""
    w, unit = start, mpf(10) ** (4 - mpmath.mp.dps)  # of rounding
    value, gradient, hessian = evaluate(w)
    for _ in range(60):
        if mpmath.norm(gradient) <= mpf(10) ** (20 - mpmath.mp.dps) * (1 + abs(value)):
            return w
        step = mpmath.lu_solve(hessian, -gradient)
        size = mpf(1)
        while (found := evaluate(w + size * step))[0] > value + unit * (1 + abs(value)):
            size /= 2
            assert size > mpf(10) ** -30, "no descent"
        w, (value, gradient, hessian) = w + size * step, found
    raise AssertionError("Newton's method did not converge")


def penalized(Z, losses, ridge):
    """Minimize sum_i loss_i(z_i) + sum_j ridge_j w_j^2 / 2 over w, z = Z w; ``losses(i, z)`` has value and two derivatives."""
    p = Z.cols

    def evaluate(w):
        z = Z * w
        found = [losses(i, z[i]) for i in range(Z.rows)]
        value = mpmath.fsum(f[0] for f in found) + mpmath.fsum(r * v * v for r, v in zip(ridge, w, strict=True)) / 2
        gradient = Z.T * mpmath.matrix([f[1] for f in found]) + mpmath.matrix(
            [r * v for r, v in zip(ridge, w, strict=True)]
        )
        curved = mpmath.matrix([[found[i][2] * Z[i, j] for j in range(p)] for i in range(Z.rows)])
        return value, gradient, Z.T * curved + mpmath.diag(ridge)

    return newton(evaluate, mpmath.zeros(p, 1))


def logistic(t, weight):
    """The loss weight ln(1 + exp(-t z)) with its derivatives, for a label t of -1 or 1."""

    def loss(z):
        share = 1 / (1 + mpmath.exp(t * z))
        return weight * mpmath.log1p(mpmath.exp(-t * z)), -weight * t * share, weight * share * (1 - share)

    return loss


def with_constant(X):
    """The rows with a column of ones at the end."""
    return matrix(np.column_stack([X, np.ones(len(X))]))


# --- sparse optima in rational numbers --------------------------------------------------------------------------------


def solved(A, b):
    """Gaussian elimination in rational numbers; None if the matrix is singular."""
    A = [[*row, v] for row, v in zip(A, b, strict=True)]
    n = len(A)
    for j in range(n):
        pivot = next((i for i in range(j, n) if A[i][j] != 0), None)
        if pivot is None:
            return None
        A[j], A[pivot] = A[pivot], A[j]
        A[j] = [v / A[j][j] for v in A[j]]
        for i in range(n):
            if i != j:
                A[i] = [u - A[i][j] * v for u, v in zip(A[i], A[j], strict=True)]
    return [row[-1] for row in A]


def sparse_optimum(X, y, w, l1, l2):
    """The minimizer of sum_i s_i (y_i - x_i'w - b)^2 / 2S + l1 |w|_1 + l2 |w|^2 / 2, in rationals."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    s, t, d = [Fraction(float(v)) for v in w], [Fraction(float(v)) for v in y], X.shape[1]
    S = sum(s)
    means = [sum(a * row[j] for a, row in zip(s, rows, strict=True)) / S for j in range(d)]
    middle = sum(a * v for a, v in zip(s, t, strict=True)) / S
    Z = [[row[j] - means[j] for j in range(d)] for row in rows]
    Q = [[sum(a * z[j] * z[k] for a, z in zip(s, Z, strict=True)) / S for k in range(d)] for j in range(d)]
    q = [sum(a * z[j] * (v - middle) for a, z, v in zip(s, Z, t, strict=True)) / S for j in range(d)]
    l1, l2 = Fraction(l1), Fraction(l2)
    found = []
    for signs in product((-1, 0, 1), repeat=d):
        on = [j for j in range(d) if signs[j]]
        part = solved([[Q[j][k] + (l2 if j == k else 0) for k in on] for j in on], [q[j] - l1 * signs[j] for j in on])
        if part is None:
            continue
        v = [part[on.index(j)] if j in on else Fraction(0) for j in range(d)]
        slopes = [q[j] - sum(Q[j][k] * v[k] for k in range(d)) for j in range(d)]
        if all(v[j] * signs[j] > 0 for j in on) and all(abs(slopes[j]) <= l1 for j in range(d) if j not in on):
            found.append(v)
    assert len(found) == 1
    return found[0]
