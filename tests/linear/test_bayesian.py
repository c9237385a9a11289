"""Bayesian linear regression: hand numbers, two routes to everything, and the equivalences of likelihood, prior and penalty."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.optimize import minimize

from surefit import (
    BayesianLinearRegression,
    CertificateError,
    InvalidParameter,
    Lasso,
    LinearRegression,
    Ridge,
)


def problem(seed=0, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ np.arange(1.0, d + 1) + rng.standard_normal(n)


def test_one_row_by_hand():
    model = BayesianLinearRegression(fit_intercept=False).fit([[1.0]], [2.0])
    assert model.coef_[0] == pytest.approx(1.0) and model.posterior_covariance_[0, 0] == pytest.approx(0.5)
    assert model.log_evidence_ == pytest.approx(stats.norm.logpdf(2, 0, np.sqrt(2)), rel=1e-14)
    mean, deviation = model.predict([[3.0]], return_std=True)
    assert mean[0] == pytest.approx(3.0) and deviation[0] ** 2 == pytest.approx(1 + 9 / 2)


@pytest.mark.parametrize("shape", [(7, 3), (4, 9)])
def test_evidence_is_the_density_of_the_targets(shape):
    X, y = problem(1, *shape)
    model = BayesianLinearRegression(noise_variance=0.5, prior_variance=2.0, fit_intercept=False).fit(X, y)
    density = stats.multivariate_normal(np.zeros(shape[0]), 0.5 * np.eye(shape[0]) + 2 * X @ X.T).logpdf(y)
    assert model.log_evidence_ == pytest.approx(density, rel=1e-11)
    assert model.verify(X, y)["bayesian_linear.evidence"].ok


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(8)))
def test_row_by_row_in_any_order_is_all_at_once(seed, order):
    X, y = problem(seed, n=8)
    whole = BayesianLinearRegression(noise_variance=0.7).fit(X, y)
    parts = BayesianLinearRegression(noise_variance=0.7)
    predictive = 0.0
    for i in order:
        if hasattr(parts, "coef_"):
            mean, deviation = parts.predict(X[[i]], return_std=True)
            predictive += stats.norm.logpdf(y[i], mean[0], deviation[0])
        else:
            predictive += stats.norm.logpdf(y[i], 0, np.sqrt(0.7 + 1 + X[i] @ X[i]))
        parts.partial_fit(X[[i]], y[[i]])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts.posterior_covariance_, whole.posterior_covariance_, rtol=1e-9, atol=1e-13)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-10)
    assert predictive == pytest.approx(whole.log_evidence_, rel=1e-10)  # chain rule


def test_mean_is_ridge_and_a_wide_prior_is_least_squares():
    X, y = problem(2)
    model = BayesianLinearRegression(noise_variance=3.0, prior_variance=0.5).fit(X, y)
    ridge = Ridge(6.0, penalize_intercept=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-10)
    assert model.intercept_ == pytest.approx(ridge.intercept_)
    wide = BayesianLinearRegression(noise_variance=3.0, prior_variance=1e9).fit(X, y)
    ols = LinearRegression().fit(X, y)
    np.testing.assert_allclose(wide.coef_, ols.coef_, rtol=1e-7)
    np.testing.assert_allclose(wide.posterior_covariance_, 3 * ols.unscaled_covariance_, rtol=1e-6, atol=1e-12)
    assert np.all(np.linalg.eigvalsh(model.posterior_covariance_) <= 0.5)


def test_maximum_a_posteriori_is_ridge_and_with_laplace_prior_lasso():
    X, y = problem(3)
    sigma2, tau2, b = 2.0, 0.3, 0.4

    def normal(w):
        return -stats.norm.logpdf(y, X @ w, np.sqrt(sigma2)).sum() - stats.norm.logpdf(w, 0, np.sqrt(tau2)).sum()

    found = minimize(normal, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(Ridge(sigma2 / tau2, fit_intercept=False).fit(X, y).coef_, found, atol=1e-5)

    def laplace(w):
        return -stats.norm.logpdf(y, X @ w, np.sqrt(sigma2)).sum() - stats.laplace.logpdf(w, 0, b).sum()

    lasso = Lasso(sigma2 / (30 * b), fit_intercept=False, tol=1e-12).fit(X, y).coef_
    rng = np.random.default_rng(0)
    assert all(laplace(lasso) <= laplace(lasso + 0.02 * rng.standard_normal(3)) for _ in range(200))


def test_weights_are_repetitions_and_sparse_is_dense():
    X, y = problem(4)
    s = np.random.default_rng(0).integers(0, 3, 30)
    one = BayesianLinearRegression().fit(X, y, s)
    two = BayesianLinearRegression().fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, rel=1e-11)
    assert one.verify(X, y, s)["bayesian_linear.evidence"].ok
    np.testing.assert_allclose(BayesianLinearRegression().fit(sparse.csr_array(X), y, s).coef_, one.coef_, rtol=1e-12)


def test_intervals_are_those_of_the_predictive_law():
    X, y = problem(5)
    model = BayesianLinearRegression().fit(X, y)
    low, high = model.predict_interval(X, confidence=0.9)
    mean, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(stats.norm.cdf(high, mean, deviation) - stats.norm.cdf(low, mean, deviation), 0.9)
    with pytest.raises(InvalidParameter, match="confidence"):
        model.predict_interval(X, confidence=2)


@pytest.mark.parametrize("name", ["posterior_mean_", "posterior_covariance_"])
def test_a_changed_posterior_is_found_out(name):
    X, y = problem(6)
    model = BayesianLinearRegression().fit(X, y)
    certificate = model.certificate_
    setattr(model, name, getattr(model, name) * (1 + 1e-4))
    model._issue("A", list(certificate.claims), problem=certificate.problem, model=tuple(certificate.model),
                 data=certificate.data)  # fmt: skip
    with pytest.raises(CertificateError, match=r"bayesian_linear\.posterior"):
        model.verify(X, y)


def exact_log_density(Z, y, noise, prior):
    """Log density of N(0, noise I + prior Z Z'), in rationals up to the logarithm."""
    rows, values = [[Fraction(v) for v in row] for row in Z], [Fraction(v) for v in y]
    n = len(rows)
    K = [[prior * sum(a * b for a, b in zip(p, q, strict=True)) + noise * (p is q) for q in rows] for p in rows]
    logs, square = 0.0, Fraction(0)
    for i in range(n):  # elimination: pivots are the conditional variances
        logs += math.log(K[i][i])
        square += values[i] ** 2 / K[i][i]
        for j in range(i + 1, n):
            factor = K[j][i] / K[i][i]
            values[j] -= factor * values[i]
            for k in range(i, n):
                K[j][k] -= factor * K[i][k]
    return -0.5 * (n * math.log(2 * math.pi) + logs + float(square))


ODD = {
    "far from zero": lambda X, y: (X + 1e6, y + 1e6),
    "large": lambda X, y: (1e6 * X, 1e6 * y),
    "columns of all sizes": lambda X, y: (X * [1e-6, 1.0, 1e6], y),
    "an outlier": lambda X, y: (np.vstack([X, [1e9] * 3]), np.append(y, 1e3)),
}


@pytest.mark.parametrize("name", ODD)
def test_evidence_keeps_its_digits_on_odd_data(name):
    X, y = ODD[name](*problem(2, n=9))
    model = BayesianLinearRegression().fit(X, y)
    exact = exact_log_density(np.column_stack([np.ones(len(X)), X]), y, 1, 1)
    assert model.log_evidence_ == pytest.approx(exact, rel=1e-8)
    assert model.verify(X, y)["bayesian_linear.evidence"].ok
    parts = BayesianLinearRegression().partial_fit(X[:4], y[:4]).partial_fit(X[4:], y[4:])
    assert parts.log_evidence_ == pytest.approx(exact, rel=1e-8)
