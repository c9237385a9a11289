"""Distances from the exact optimum and features that are zero in it, against optima with many digits and in rational numbers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import (
    SAMPLES,
    logistic,
    number,
    penalized,
    require_upper,
    sample,
    sparse_optimum,
    with_constant,
)
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


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("data", SAMPLES)
def test_features_that_are_zero(data, share):
    X, y, _, _, w = sample(data)
    X = np.column_stack([X, np.random.default_rng(0).integers(-1, 2, size=len(X)) * 1e-3])  # a small third column
    for alpha in (3e-7, 1e-3, 0.5, 1e5):
        best = sparse_optimum(X, y, w, Fraction(alpha) * Fraction(share), Fraction(alpha) * Fraction(1 - share))
        for tol in (1e-1, 1e-10):
            model = surefit.ElasticNet(alpha=alpha, l1_ratio=share, tol=tol).fit(X, y, sample_weight=w)
            claim = model.certificate_["linear.inactive"]
            assert all(best[j] == 0 for j in claim.numbers["zero"])
            assert claim.value == 3 - len(claim.numbers["zero"]) >= sum(v != 0 for v in best)
        assert claim.value == sum(v != 0 for v in best)  # the precise fit finds them all


@pytest.mark.parametrize("data", SAMPLES)
def test_distance_from_sparse_optimum(data):
    X, y, _, _, w = sample(data)
    for l1, l2 in ((0.01, 0.1), (0.5, 1e-3), (0.0, 2.0)):
        best = sparse_optimum(X, y, w, l1, l2)
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
