"""Risk of coefficients, exact and simulated; sweeps; the peak at interpolation; their plots."""

import numpy as np
import pytest

from surefit import (
    BiasVarianceDisplay,
    DartboardDisplay,
    InvalidData,
    InvalidParameter,
    Lasso,
    LinearRegression,
    PolynomialBasis,
    Ridge,
    bias_variance_sweep,
    coefficient_risk,
    interpolation_study,
    ridge_risk,
)

X = np.random.default_rng(0).standard_normal((12, 3))
COEF = np.array([1.0, -0.5, 2.0])


def test_least_squares_is_unbiased_with_its_covariance():
    risk = coefficient_risk(LinearRegression(), X, COEF, intercept=0.7, noise=1.5, exact=True)
    Z = np.column_stack([X, np.ones(12)])
    assert risk.bias == pytest.approx(np.zeros(4), abs=1e-12)
    assert risk.covariance == pytest.approx(1.5**2 * np.linalg.inv(Z.T @ Z))
    assert risk.mse == pytest.approx(1.5**2 * np.trace(np.linalg.inv(Z.T @ Z)))
    assert "exact" in repr(risk)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_ridge_agrees_with_its_closed_form(alpha):
    risk = coefficient_risk(Ridge(alpha, fit_intercept=False), X, COEF, noise=2.0, exact=True)
    closed = ridge_risk(X, [alpha], truth=COEF, sigma2=4.0)
    assert risk.squared_bias == pytest.approx(closed.squared_bias[0])
    assert risk.variance == pytest.approx(closed.variance[0])
    A = np.linalg.inv(X.T @ X + alpha * np.eye(3))
    assert risk.bias == pytest.approx(-alpha * A @ COEF)


def test_identity_holds_on_the_draws_of_any_estimator():
    for model in (Lasso(0.1), LinearRegression(), Ridge(3.0)):
        risk = coefficient_risk(model, X, COEF, noise=1.0, n_repeats=50, random_state=1)
        distance = np.mean(np.sum((risk.estimates - risk.truth) ** 2, axis=1))
        assert risk.mse == pytest.approx(distance, rel=1e-12)
    simulated = coefficient_risk(Ridge(3.0), X, COEF, noise=1.0, n_repeats=3000, random_state=2)
    exact = coefficient_risk(Ridge(3.0), X, COEF, noise=1.0, exact=True)
    assert simulated.variance == pytest.approx(exact.variance, rel=0.1)
    assert simulated.squared_bias == pytest.approx(exact.squared_bias, rel=0.1)
    with pytest.raises(InvalidParameter, match="not linear"):
        coefficient_risk(Lasso(0.5), X, COEF, noise=1.0, exact=True)
    with pytest.raises(InvalidData, match="one number per column"):
        coefficient_risk(Ridge(), X, [1.0], noise=1.0)
    with pytest.raises(InvalidParameter, match="noise"):
        coefficient_risk(Ridge(), X, COEF, noise=-1.0)


def test_sweep_over_penalties_and_degrees():
    x = np.arange(-2.0, 3.0)[:, None]
    models = {alpha: Ridge(alpha, penalize_intercept=True) for alpha in (1e-9, 1.0, 10.0)}
    sweep = bias_variance_sweep(models, x, lambda z: 1 + 2 * z[:, 0], noise=1.0, at=[[3.0]], exact=True)
    assert sweep.error == pytest.approx([2.1, 2.389808, 1 + 0.247222 + 13.444444], abs=1e-5)
    assert np.all(np.diff(sweep.variance) < 0) and np.all(np.diff(sweep.squared_bias) > 0)
    from sklearn.pipeline import make_pipeline

    z = np.linspace(-1, 1, 12)[:, None]
    degrees = {k: make_pipeline(PolynomialBasis(k), LinearRegression()) for k in (1, 3, 9)}
    curve = bias_variance_sweep(degrees, z, lambda v: np.sin(3 * v[:, 0]), noise=0.3, exact=True)
    assert curve.best == 3
    display = BiasVarianceDisplay.from_risk(curve).plot()
    assert display.best_line_.get_xdata()[0] == 3.0
    named = BiasVarianceDisplay(["a", "b"], [1, 0], [0, 1], [1, 1]).plot()
    assert named.best_line_.get_xdata()[0] == 0.0
    with pytest.raises(InvalidData, match="needs 2 numbers"):
        BiasVarianceDisplay([1, 2], [1], [1, 2], [1, 2])
    with pytest.raises(InvalidData, match="estimators is empty"):
        bias_variance_sweep({}, z, lambda v: v[:, 0], noise=1.0)


def test_error_peaks_where_coefficients_equal_rows():
    study = interpolation_study(30, (5, 15, 30, 60, 120), repeats=6)
    assert study.peak == 30
    assert study.least_squares[2] > 5 * study.least_squares[0]
    assert study.ridge.max() < study.least_squares.max() / 5
    with pytest.raises(InvalidParameter, match="n_samples"):
        interpolation_study(1)


def test_dartboard():
    risks = {
        name: coefficient_risk(m, X, COEF, noise=1.0, random_state=0)
        for name, m in {"a": Ridge(), "b": Ridge(50.0)}.items()
    }
    display = DartboardDisplay(risks, columns=(0, 2)).plot()
    assert len(display.clouds_) == 2
    with pytest.raises(InvalidData, match="exact=False"):
        DartboardDisplay({"a": coefficient_risk(Ridge(), X, COEF, noise=1.0, exact=True)})
