"""Losses on arrays, on ranges of residuals, and at their kinks."""

import numpy as np
import pytest

from surefit import InvalidParameter
from surefit.losses import (
    Absolute,
    EpsilonInsensitive,
    ExponentialLoss,
    Hinge,
    Logistic,
    Lp,
    PerceptronLoss,
    Squared,
    ZeroOne,
    bound_on,
    clip,
    lipschitz_on,
    slope,
    subgradients,
    value,
)
from surefit.optimizers import GradientDescent, GradientNorm, LinearScores


def test_margin_losses_take_arrays():
    z = np.linspace(-3, 3, 61)
    ones = np.ones(61)
    assert value(ZeroOne(), ones, z) == pytest.approx((z <= 0).astype(float))
    assert value(Hinge(), ones, z) == pytest.approx(np.maximum(1 - z, 0))
    assert value(Logistic(), 1.0, z) == pytest.approx(np.log1p(np.exp(-z)))
    assert value(ExponentialLoss(), 1.0, z) == pytest.approx(np.exp(-z))
    for loss, factor in ((Hinge(), 1), (Logistic(), 1 / np.log(2)), (ExponentialLoss(), 1)):
        assert np.all(factor * value(loss, 1.0, z) >= value(ZeroOne(), 1.0, z))
    assert value(Logistic(), 1.0, 0.0) < 1  # natural logarithm: no upper bound of the 0-1 loss
    assert slope(Hinge(), [1, -1], [0.0, 0.0]).tolist() == [-1.0, 1.0]


def test_powers_and_their_constants():
    rng = np.random.default_rng(0)
    for p, M in ((1.0, 2.0), (2.0, 1.0), (3.5, 0.7)):
        a, b = rng.uniform(-M, M, (2, 500))
        assert lipschitz_on(Lp(p), M) == pytest.approx(p * M ** (p - 1))
        assert bound_on(Lp(p), M) == pytest.approx(M**p)
        assert np.all(
            np.abs(value(Lp(p), 0.0, a) - value(Lp(p), 0.0, b)) <= lipschitz_on(Lp(p), M) * np.abs(a - b) + 1e-12
        )
    assert abs(1.0 - 0.99**2) / 0.01 == pytest.approx(1.99)
    y, z = rng.standard_normal((2, 50))
    assert value(Lp(2.0), y, z) == pytest.approx(2 * value(Squared(), y, z))
    assert value(Lp(1.0), y, z) == pytest.approx(value(Absolute(), y, z))
    assert lipschitz_on(EpsilonInsensitive(0.1), 4.0) == 1.0 and lipschitz_on(Hinge(), 3.0) == 1.0
    with pytest.raises(InvalidParameter, match="bound"):
        bound_on(Squared(), -1.0)


def test_clipping_never_increases_a_loss():
    rng = np.random.default_rng(1)
    y, z = rng.uniform(-1, 1, 200), rng.uniform(-4, 4, 200)
    for loss in (Lp(1.0), Lp(2.0), Lp(3.0), EpsilonInsensitive(0.2)):
        assert np.all(value(loss, y, clip(z, -1, 1)) <= value(loss, y, z) + 1e-15)
    assert np.abs(y - clip(z, -1, 1)).max() <= 2
    with pytest.raises(InvalidParameter, match="low < high"):
        clip(z, 1, 0)


def test_subgradients_at_kinks_and_elsewhere():
    assert subgradients(PerceptronLoss(), 1.0, 0.0) == (-1.0, 0.0)
    assert subgradients(PerceptronLoss(), -1.0, 0.0) == (0.0, 1.0)
    assert subgradients(Hinge(), 1.0, 1.0) == (-1.0, 0.0)
    assert subgradients(Absolute(), 2.0, 2.0) == (-1.0, 1.0)
    assert subgradients(EpsilonInsensitive(0.25), 1.0, 1.25) == (0.0, 1.0)
    smooth = subgradients(Logistic(), 1.0, 0.3)
    assert smooth.unique and smooth.low == slope(Logistic(), 1.0, 0.3)
    rng = np.random.default_rng(2)
    for loss, y, z in ((Hinge(), 1.0, 1.0), (PerceptronLoss(), -1.0, 0.0), (Absolute(), 0.5, 0.5)):
        low, high = subgradients(loss, y, z)
        for v in np.linspace(low, high, 5):
            for other in rng.uniform(-3, 3, 50):
                assert value(loss, y, other) - value(loss, y, z) >= v * (other - z) - 1e-12


def test_mean_squared_error_has_the_step_limits_of_the_notes():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])
    mse = LinearScores(X, y, Lp(2.0))
    assert 2 / mse.smoothness == pytest.approx(0.180295, abs=5e-7)
    assert 2 / (mse.smoothness + mse.strong_convexity) == pytest.approx(0.176471, abs=5e-7)
    w = np.array([0.3, -0.2])
    assert mse.value(w) == pytest.approx(np.mean((y - 0.3 * X[:, 0] + 0.2) ** 2))
    Z = np.column_stack([X, np.ones(3)])
    assert mse.gradient(w) == pytest.approx(2 / 3 * Z.T @ (Z @ w - y))
    assert mse.hessian(w) == pytest.approx(2 / 3 * Z.T @ Z)


def test_gap_of_a_rank_deficient_descent_is_finite():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    y = np.array([1.0, 2.0, 2.0])
    problem = LinearScores(X, y, Lp(2.0), fit_intercept=False)
    outcome = GradientDescent(stopping=GradientNorm(1e-9)).minimize(problem, np.zeros(2))
    assert outcome.w == pytest.approx(np.linalg.pinv(X) @ y, abs=1e-8)
    best = np.mean((y - X @ np.linalg.pinv(X) @ y) ** 2)
    assert 0 <= outcome.value - best + 1e-15 <= outcome.gap + 2e-15 and np.isfinite(outcome.gap)


def test_hessian_at_any_point_with_a_penalty():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((15, 2)), np.where(rng.random(15) > 0.5, 1.0, -1.0)
    f = LinearScores(X, y, Logistic(), l2=0.4, sample_weight=rng.random(15) + 0.5)
    w = rng.standard_normal(3)
    steps = np.eye(3) * 1e-6
    numeric = np.array([(f.gradient(w + s) - f.gradient(w - s)) / 2e-6 for s in steps])
    assert f.hessian(w) == pytest.approx(numeric, abs=1e-6)
    plain = LinearScores(X, y, Logistic())
    Z = np.column_stack([X, np.ones(15)])
    p = 1 / (1 + np.exp(-(Z @ w)))
    assert 15 * plain.hessian(w) == pytest.approx((Z * (p * (1 - p))[:, None]).T @ Z)
    assert 15 * np.trace(plain.hessian(w)) == pytest.approx(np.sum(p * (1 - p) * np.sum(Z**2, axis=1)))
