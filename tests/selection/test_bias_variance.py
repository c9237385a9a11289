"""Bias and variance: the notes' numbers, the identity, and agreement of the exact with the drawn numbers."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from surefit import InvalidData, InvalidParameter, LinearRegression, PolynomialBasis, Ridge, bias_variance, ridge_risk

X = np.arange(-2.0, 3.0)[:, None]


def line(x):
    return 1 + 2 * x[:, 0]


@pytest.mark.parametrize(
    ("alpha", "bias", "variance", "error"),
    [(0.0, 0.0, 1.1, 2.1), (1.0, -0.712121, 0.882691, 2.389808), (10.0, -3.666667, 0.247222, 14.691667)],
)
def test_worked_numbers(alpha, bias, variance, error):
    learner = Ridge(alpha, penalize_intercept=True)
    parts = bias_variance(learner, X, line, noise=1.0, at=[[3.0]], exact=True)
    assert parts.bias[0] == pytest.approx(bias, abs=1e-6) and parts.variance[0] == pytest.approx(variance, abs=1e-6)
    assert parts.error[0] == pytest.approx(error, abs=1e-5)
    curve = ridge_risk(np.column_stack([X, np.ones(5)]), [alpha], truth=[2, 1], sigma2=1.0, at=[3, 1])
    assert curve.mse[0] + 1 == pytest.approx(parts.error[0], rel=1e-9)


def test_drawn_numbers_agree_with_exact_ones_within_their_errors():
    exact = bias_variance(Ridge(1.0), X, line, noise=1.0, exact=True)
    drawn = bias_variance(Ridge(1.0), X, line, noise=1.0, n_repeats=400, random_state=0)
    assert np.all(np.abs(drawn.bias - exact.bias) < 4 * drawn.standard_error)
    np.testing.assert_allclose(drawn.variance, exact.variance, rtol=4 * np.sqrt(2 / 400))


def test_identity_holds_on_the_drawn_fits():
    drawn = bias_variance(DecisionTreeRegressor(max_depth=2), X, line, noise=0.5, n_repeats=30, random_state=1)
    mean_square = ((drawn.predictions - line(X)) ** 2).mean(axis=0)
    np.testing.assert_allclose(mean_square, drawn.squared_bias + drawn.variance, rtol=1e-12)
    y = np.random.default_rng(0).standard_normal(7)  # fully crossed with test draws at one point
    h = drawn.predictions[:, 0]
    crossed = ((y[:, None] - h[None, :]) ** 2).mean()
    assert crossed == pytest.approx(y.var() + h.var() + (h.mean() - y.mean()) ** 2, rel=1e-12)


def test_too_simple_has_bias_and_too_rich_has_variance():
    x = np.linspace(-2, 2, 10)[:, None]

    def truth(x):
        return 4 * x[:, 0] ** 2 - 2 * x[:, 0] + 3

    parts = [
        bias_variance(
            make_pipeline(PolynomialBasis(k), LinearRegression()), x, truth, noise=1.0, at=[[1.8]], exact=True
        )
        for k in (1, 2, 5)
    ]
    assert parts[0].bias[0] == pytest.approx(5.9185 - 12.36, abs=1e-4)
    assert np.sqrt(parts[0].variance[0]) == pytest.approx(0.547, abs=5e-4)
    assert abs(parts[1].bias[0]) < 1e-10 and np.sqrt(parts[1].variance[0]) == pytest.approx(0.652, abs=5e-4)
    assert parts[2].variance[0] > parts[1].variance[0]
    assert "squared bias" in repr(parts[0])


def test_refusals():
    with pytest.raises(InvalidParameter, match="not linear"):
        bias_variance(DecisionTreeRegressor(max_depth=1), X, line, noise=1.0, exact=True, random_state=0)
    with pytest.raises(InvalidParameter, match="noise"):
        bias_variance(Ridge(), X, line, noise=-1.0)
    with pytest.raises(InvalidData, match="same columns"):
        bias_variance(Ridge(), X, line, noise=1.0, at=[[1.0, 2.0]])
    with pytest.raises(InvalidParameter, match="n_repeats"):
        bias_variance(Ridge(), X, line, noise=1.0, n_repeats=1)
