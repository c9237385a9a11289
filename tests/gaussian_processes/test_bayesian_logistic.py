"""Bayesian logistic regression: the numbers of the notes, two routes, and the exactly normal case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from surefit import BayesianLogisticRegression, GaussianProcessClassifier, LogisticRegression
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels import Linear
from surefit.solvers.gaussian_process.weights import Curvature

HALF = np.array([[1.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
SIX = np.vstack([HALF, -HALF]), np.repeat([1, 0], 3)


def test_six_points():
    at_mode = BayesianLogisticRegression().fit(*SIX)
    assert np.allclose(at_mode.posterior_mean_, 0.84720, atol=5e-6)
    grid = BayesianLogisticRegression(method="grid").fit(*SIX)
    assert np.allclose(grid.posterior_mean_, 0.9826, atol=5e-5)
    probability = grid.predict_proba([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])[:, 1]
    assert np.allclose(probability, [0.70568, 0.84761, 0.5], atol=5e-6)
    assert grid.verify(*SIX)["bayesian_logistic.integral"].proved < 1e-8
    assert at_mode.verify(*SIX)["bayesian_logistic.mode"].proved < 1e-12


def test_the_mode_is_ridge_logistic_regression_and_the_prior_its_price():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1.0, -1.0, 0.3] + rng.logistic(size=60) > 0).astype(int)
    model = BayesianLogisticRegression(prior_covariance=0.5).fit(X, y)
    other = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-12).fit(X, y)
    assert np.allclose(model.posterior_mean_, other.coef_[0], atol=1e-6)
    process = GaussianProcessClassifier(0.5 * Linear(), optimizer=None, tol=1e-14).fit(X, y)
    assert np.allclose(process.predict_proba(X), model.predict_proba(X), atol=1e-8)  # weights and functions agree
    assert np.isclose(process.log_marginal_likelihood_value_, model.log_evidence_, atol=1e-7)
    assert np.array_equal(model.predict(X) == 1, X @ model.posterior_mean_ > 0)  # the boundary is a hyperplane


def test_one_weight_on_the_grid_agrees_with_adaptive_quadrature():
    x, t = np.array([0.5, 1.0, -2.0, 3.0]), np.array([1, -1, -1, 1])
    model = BayesianLogisticRegression(prior_covariance=4.0, method="grid").fit(x[:, None], t)
    density = lambda w: np.prod(expit(t * x * w)) * norm.pdf(w, scale=2.0)  # noqa: E731
    total = quad(density, -20, 20, epsabs=1e-14)[0]
    assert np.isclose(model.log_evidence_, np.log(total), atol=1e-10)
    mean = quad(lambda w: w * density(w), -20, 20, epsabs=1e-14)[0] / total
    assert np.isclose(model.posterior_mean_[0], mean, atol=1e-9)
    averaged = quad(lambda w: expit(0.7 * w) * density(w), -20, 20, epsabs=1e-14)[0] / total
    assert np.isclose(model.predict_proba([[0.7]])[0, 1], averaged, atol=1e-9)


def test_the_exact_boundary_is_not_straight():
    X = np.array([[2, 0.2], [1, 0.5], [3, -0.5], [-0.3, -2], [-1, -3], [0.2, -1]])
    model = BayesianLogisticRegression(method="grid").fit(X, [1, 1, 1, 0, 0, 0])
    mean = model.posterior_mean_
    assert np.allclose(mean, [1.0365, 0.9449], atol=5e-5)
    across = np.array([mean[1], -mean[0]]) / np.linalg.norm(mean)
    near, far = model.predict_proba([1e-3 * across, 10 * across])[:, 1]
    assert abs(near - 0.5) < 1e-8 < 1e-5 < abs(far - 0.5)


def test_modeled_inputs_are_exactly_normal():
    rng = np.random.default_rng(1)
    X, t = rng.normal(size=(7, 1)), np.array([1, -1, 1, 1, -1, 1, -1])
    model = BayesianLogisticRegression(prior_covariance=3.0, method="gaussian").fit(X, t)
    assert np.isclose(model.posterior_covariance_[0, 0], 1 / (1 / 3 + 7 / 4))
    assert np.isclose(model.posterior_mean_[0], model.posterior_covariance_[0, 0] * 0.5 * t @ X[:, 0])

    def joint(w):  # the two forms of the likelihood of one pair agree
        mixture = 0.5 * norm.pdf(X[:, 0] - w / 2) + 0.5 * norm.pdf(X[:, 0] + w / 2)
        form = mixture * expit(t * X[:, 0] * w)
        assert np.allclose(form, 0.5 * norm.pdf(X[:, 0] - t * w / 2), rtol=1e-12)
        return np.prod(form) * norm.pdf(w, scale=np.sqrt(3.0))

    assert np.isclose(model.log_evidence_, np.log(quad(joint, -15, 15, epsabs=1e-16)[0]), atol=1e-8)
    assert model.verify(X, t)["bayesian_logistic.covariance"].ok


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from(["laplace", "gaussian", "grid"]))
def test_weights_are_repetitions(weights, method):
    X, y = SIX
    weights = np.array(weights, dtype=float)
    weights[[0, 3]] += 1
    one = BayesianLogisticRegression(method=method).fit(X, y, sample_weight=weights)
    other = BayesianLogisticRegression(method=method).fit(
        np.repeat(X, weights.astype(int), 0), np.repeat(y, weights.astype(int))
    )
    assert np.allclose(one.posterior_mean_, other.posterior_mean_, atol=1e-7)
    assert np.isclose(one.log_evidence_, other.log_evidence_, atol=1e-7)
    assert one.verify(X, y, sample_weight=weights)


def test_errors_say_what_to_do():
    with pytest.raises(InvalidParameter, match="a grid is for one or two"):
        BayesianLogisticRegression(method="grid").fit(np.eye(3), [0, 1, 1])
    with pytest.raises(InvalidParameter, match="positive definite 2 x 2"):
        BayesianLogisticRegression(prior_covariance=[[1.0, 2.0], [2.0, 1.0]]).fit(*SIX)
    with pytest.raises(InvalidParameter, match="positive definite 2 x 2"):
        BayesianLogisticRegression(prior_covariance=[[1.0, 1e6], [1e6, 1e12 + 1e-3]]).fit(
            *SIX
        )  # singular within rounding
    with pytest.raises(InvalidData, match="Only binary"):
        BayesianLogisticRegression().fit(HALF, [0, 1, 2])
    with pytest.raises(InvalidParameter, match="models the inputs"):
        BayesianLogisticRegression(method="gaussian", fit_intercept=True).fit(*SIX)


def test_curvature_keeps_the_small_direction_of_rows_far_apart():
    # X'X + I with rows (1e9, 1e9) and (1, -1): 2e18 + 1 along (1, 1), 3 along (1, -1), by hand
    found = Curvature.at(np.array([[1e9, 1e9], [1.0, -1.0]]), np.ones(2), np.eye(2))
    assert found.inverse() == pytest.approx(np.array([[1, -1], [-1, 1]]) / 6, rel=1e-7)
    assert found.log_determinant == pytest.approx(np.log(2e18) + np.log(3), rel=1e-9)
    assert found.solve(np.array([1.0, -1.0])) == pytest.approx([1 / 3, -1 / 3], rel=1e-7)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
def test_a_row_far_away_is_fitted_and_the_mode_is_stationary(far):
    X = np.vstack([np.random.default_rng(7).normal(size=(60, 4)), np.full(4, far)])
    y = X[:, 0] > X[:, 1]
    model = BayesianLogisticRegression().fit(X, y)
    mode = model.certificate_["bayesian_logistic.mode"]
    assert mode.holds == (far < 1e9)  # there rounding leaves 1e-10 and more, and it says so
    assert mode.value < 1e-9 or far == 1e12
    assert model.verify(X, y)["bayesian_logistic.mode"].ok
