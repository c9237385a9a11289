"""Bayesian ridge regression: the evidence by two routes, its maximum, scikit-learn, and certificates that can fail."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn import linear_model

from surefit import BayesianRidge, CertificateError
from surefit.solvers.least_squares.evidence import Axes, _triangular_factor


def problem(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    return X, X @ np.arange(d) + 5.0 + 0.7 * rng.normal(size=n)


def log_evidence(X, y, alpha, lam):
    """Density of the centered targets with the Gamma priors' logarithms, from the matrix of the size of the rows."""
    Z, r = X - X.mean(axis=0), y - y.mean()
    density = stats.multivariate_normal(np.zeros(len(r)), np.eye(len(r)) / alpha + Z @ Z.T / lam).logpdf(r)
    return density + 1e-6 * (np.log(alpha) - alpha + np.log(lam) - lam)


@pytest.mark.parametrize("shape", [(30, 3), (6, 9)])
def test_scores_are_the_density_of_the_targets(shape):
    X, y = problem(*shape)
    model = BayesianRidge(compute_score=True, tol=1e-8).fit(X, y)
    assert len(model.scores_) == model.n_iter_ + 1
    assert model.scores_[-1] == pytest.approx(log_evidence(X, y, model.alpha_, model.lambda_), rel=1e-7)


def test_precisions_maximize_the_evidence():
    X, y = problem()
    model = BayesianRidge(tol=1e-10).fit(X, y)
    best = optimize.minimize(lambda v: -log_evidence(X, y, *np.exp(v)), [0.0, 0.0], tol=1e-12)
    assert log_evidence(X, y, model.alpha_, model.lambda_) == pytest.approx(-best.fun, rel=1e-10)
    assert [model.alpha_, model.lambda_] == pytest.approx(np.exp(best.x), rel=1e-3)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"alpha_1": 2.0, "lambda_2": 0.5}])
@pytest.mark.parametrize("shape", [(60, 4), (8, 12)])
def test_agrees_with_scikit_learn(options, shape):
    X, y = problem(*shape)
    weights = 1.0 + np.arange(len(y)) % 3
    model = BayesianRidge(tol=1e-9, max_iter=10_000, **options).fit(X, y, weights)
    peer = linear_model.BayesianRidge(tol=1e-12, max_iter=10_000, **options).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.sigma_, peer.sigma_, rtol=1e-4, atol=1e-8)
    for own, theirs in zip(model.predict(X, return_std=True), peer.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-5)
    assert model.verify(X, y, weights)["bayesian_ridge.evidence"].proved < 1e-4


def test_a_weight_is_a_repetition():
    X, y = problem(20)
    weights = np.arange(20) % 3
    weighted, repeated = BayesianRidge(tol=1e-9).fit(X, y, weights), BayesianRidge(tol=1e-9)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)
    assert weighted.alpha_ == pytest.approx(repeated.alpha_, rel=1e-7)


def test_stopping_early_warns_and_states_the_derivatives():
    X, y = problem()
    with pytest.warns(UserWarning, match="max_iter"):
        model = BayesianRidge(max_iter=1).fit(X, y)
    claim = model.certificate_["bayesian_ridge.evidence"]
    step = 1e-5
    by_lambda = (
        log_evidence(X, y, model.alpha_, model.lambda_ * np.exp(step))
        - log_evidence(X, y, model.alpha_, model.lambda_ * np.exp(-step))
    ) / (2 * step)
    assert claim.value >= abs(by_lambda) * (1 - 1e-4) > 1e-3
    assert not model.certificate_.holds


def test_another_point_is_refused():
    X, y = problem()
    model = BayesianRidge().fit(X, y)
    certificate = model.certificate_
    for name, change in (("coef_", 1e-3), ("alpha_", 1e-3), ("sigma_", 1e-6), ("intercept_", 1e-6)):
        changed = {**certificate.model, name: certificate.model[name] * (1 + change)}
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, model=changed, seal="").verify(X, y)


@pytest.mark.parametrize(
    "shape", [(8, 5), (11, 5), (40, 5)]
)  # by singular values of the rows, and of their triangular factor
def test_axes_keep_the_squares_of_targets(shape):
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=shape), rng.normal(size=shape[0])
    axes = Axes.of(np.asfortranarray(np.column_stack([Z, y])), float(shape[0]))
    np.testing.assert_allclose(axes.values, np.linalg.svd(Z, compute_uv=False), rtol=1e-12)
    assert axes.rest + axes.targets @ axes.targets == pytest.approx(y @ y, rel=1e-12)
    best = np.linalg.lstsq(Z, y, rcond=None)[0]
    assert axes.rest == pytest.approx(np.sum((y - Z @ best) ** 2), rel=1e-10)
    np.testing.assert_allclose(axes.vectors.T @ (axes.targets / axes.values), best, rtol=1e-10)


def test_the_triangular_factor_by_products_of_columns_or_by_reflections():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 6)) + 0.3 * rng.normal(size=(300, 1))
    near, far = A.copy(), A * [1e-8, 1, 1, 1, 1, 1]
    near[:, 2] = near[:, 0] + 1e-6 * near[:, 1]
    for B in (A, near, far, 1e-150 * A, np.hstack([A, np.zeros((300, 1))])):
        R, lengths = _triangular_factor(B), np.maximum(np.abs(B).max(axis=0), 1e-300) * 300**0.5
        assert np.array_equal(R, np.triu(R))
        scaled, unit = R / lengths, B / lengths
        np.testing.assert_allclose(scaled.T @ scaled, unit.T @ unit, rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.linalg.svd(scaled)[1], np.linalg.svd(unit)[1], rtol=1e-9, atol=1e-15)
    assert np.all(np.diag(_triangular_factor(A)) > 0)  # by Cholesky's method
    assert np.any(np.diag(_triangular_factor(near)) < 0)  # by Householder reflections
