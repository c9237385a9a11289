"""Distances from the exact optimum and features that are zero in it, against optima with many digits and in rational numbers."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import SAMPLES, logistic, number, penalized, require_upper, sample, with_constant
from tests.forging import refused, with_claim

import surefit

pytestmark = pytest.mark.usefixtures("digits")


def squared_hinge(t, weight):
    def loss(z):
        slack = max(1 - t * z, mpf(0))
        return weight * slack**2, -2 * weight * t * slack, 2 * weight * (slack > 0)

    return loss


def squared_tube(y, width, weight):
    def loss(z):
        excess = max(abs(z - y) - width, mpf(0))
        return weight * excess**2, 2 * weight * excess * mpmath.sign(z - y), 2 * weight * (excess > 0)

    return loss


def away(model, best, row=None):
    own = model.coef_ if row is None else model.coef_[row]
    return mpmath.sqrt(mpmath.fsum((number(v) - u) ** 2 for v, u in zip(own, best, strict=True)))


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize("data", SAMPLES)
def test_distance_from_smooth_optima(data, tol):
    X, y, c, _, w = sample(data)
    signs, Z, C, width = 2 * c - 1, with_constant(X), 0.3, 0.1
    ridge = [mpf(1), mpf(1), mpf(0)]
    cases = (
        (surefit.LogisticRegression(C=C, tol=tol), c, [logistic(int(t), C * s) for t, s in zip(signs, w, strict=True)], 0),
        (surefit.LinearSVC(C=C, tol=tol, loss="squared_hinge"), c,
         [squared_hinge(int(t), C * s) for t, s in zip(signs, w, strict=True)], 0),
        (surefit.LinearSVR(C=C, tol=tol, epsilon=width, loss="squared_epsilon_insensitive"), y,
         [squared_tube(v, mpf(width), C * s) for v, s in zip(map(number, y), w, strict=True)], None),
    )  # fmt: skip
    for model, target, losses, row in cases:
        best = penalized(Z, lambda i, z, losses=losses: losses[i](z), ridge)
        model.fit(X, target, sample_weight=w)
        claim, truth = model.certificate_["linear.distance"], away(model, list(best)[:2], row)
        # strong convexity: half the squared distance is at most the gap
        require_upper(claim, truth, 2 * mpmath.sqrt(2 * model.certificate_["linear.gap"].limit))


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


def sparse_optima(X, y, w, l1, l2):
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


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("data", SAMPLES)
def test_features_that_are_zero(data, share):
    X, y, _, _, w = sample(data)
    X = np.column_stack([X, np.random.default_rng(0).integers(-1, 2, size=len(X)) * 1e-3])  # a small third column
    for alpha in (3e-7, 1e-3, 0.5, 1e5):
        best = sparse_optima(X, y, w, Fraction(alpha) * Fraction(share), Fraction(alpha) * Fraction(1 - share))
        for tol in (1e-1, 1e-10):
            model = surefit.ElasticNet(alpha=alpha, l1_ratio=share, tol=tol).fit(X, y, sample_weight=w)
            claim = model.certificate_["linear.inactive"]
            assert all(best[j] == 0 for j in claim.numbers["zero"])
            assert claim.value == 3 - len(claim.numbers["zero"]) >= sum(v != 0 for v in best)
        assert claim.value == sum(v != 0 for v in best)  # the precise fit finds them all


@pytest.mark.parametrize("data", SAMPLES)
def test_distance_from_sparse_optima(data):
    X, y, _, _, w = sample(data)
    for l1, l2 in ((0.01, 0.1), (0.5, 1e-3), (0.0, 2.0)):
        best = sparse_optima(X, y, w, l1, l2)
        for tol in (1e-2, 1e-8):
            penalty = surefit.penalties.ElasticNetPenalty(l1, l2)
            model = surefit.LinearModel(loss="squared_error", penalty=penalty, tol=tol).fit(X, y, sample_weight=w)
            claim, truth = model.certificate_["linear.distance"], away(model, [number(v) for v in best])
            require_upper(claim, truth, 2 * mpmath.sqrt(2 * model.certificate_["linear.gap"].limit / l2))


def test_listed_zeros_are_a_set_in_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    y = X[:, 0] + 0.01 * rng.normal(size=30)
    model = surefit.Lasso(alpha=0.3).fit(X, y)
    zero = model.certificate_["linear.inactive"].numbers["zero"]
    assert zero == [1, 2, 3, 4, 5]

    def listed(*columns):
        numbers = {"features": 6, "zero": list(columns)}
        return with_claim(model.certificate_, "linear.inactive", value=6.0 - len(columns), numbers=numbers)

    listed(2, 4).verify(X, y)  # a weaker statement
    for columns in ((4, 2), (2, 2), (0, 2), (2.0, 4), (True,), ([2],), ("2",)):
        assert refused(listed(*columns), X, y), columns
