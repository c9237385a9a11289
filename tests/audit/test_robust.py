"""Huber's and quantile regression of scikit-learn against cvxpy, a line through three points, and tampered coefficients."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, QuantileRegressor

from surefit import CertificateError, certify

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:100] * 10, Y[:100] / 50
WEIGHTS = np.random.default_rng(0).random(100)


def fitted(model, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=s)


def huber_optimum(alpha, epsilon, s):
    """sigma + sigma H(r / sigma) = min over u of 2 eps |r - u| + u^2 / sigma, and sigma: a second-order cone problem."""
    w, b, scale, u = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(nonneg=True), cp.Variable(len(Y))
    r = Y - X @ w - b
    squares = cp.quad_over_lin(cp.multiply(np.sqrt(s), u), scale)
    loss = s.sum() * scale + squares + 2 * epsilon * (s @ cp.abs(r - u)) + alpha * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_huber_with_its_scale(weights):
    s = np.ones(100) if weights is None else weights
    best = huber_optimum(0.1, 1.35, s)
    for model, holds in (
        (HuberRegressor(alpha=0.1, tol=1e-10, max_iter=5000), True),
        (HuberRegressor(alpha=0.1, max_iter=3), False),
    ):
        certificate = certify(fitted(model, Y, weights), X, Y, weights)
        claim = certificate["audit.gap"]
        assert certificate.holds is holds
        assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-4, abs=1e-5 * best)
        certificate.verify(X, Y, weights)
    lower = (replace(claim, value=0.9 * claim.value), *certificate.claims[1:])
    with pytest.raises(CertificateError, match="audit.gap"):
        replace(certificate, claims=lower, seal="").verify(X, Y, weights)


def test_a_changed_scale_counts():
    model = fitted(HuberRegressor(alpha=0.1, tol=1e-10, max_iter=5000), Y)
    good = certify(model, X, Y)["audit.gap"].value
    model.scale_ = 1.5 * model.scale_
    assert certify(model, X, Y)["audit.gap"].value > 100 * max(good, 1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_quantiles(alpha, weights):
    model = fitted(QuantileRegressor(quantile=0.8, alpha=alpha), Y, weights)
    certificate = certify(model, X, Y, weights)
    s = np.ones(100) if weights is None else weights
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    r = Y - X @ w - b
    loss = s @ cp.maximum(0.8 * r, -0.2 * r) + alpha * s.sum() * cp.norm1(w)
    best = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert certificate.holds
    assert certificate["audit.gap"].numbers["objective"] * s.sum() == pytest.approx(best, rel=1e-6)
    certificate.verify(X, Y, weights)
    model.coef_ = model.coef_ + 0.1
    worse = certify(model, X, Y, weights)
    claim = worse["audit.gap"]
    assert claim.numbers["objective"] - best / s.sum() == pytest.approx(claim.value, rel=1e-4)
    assert worse.holds is False


def test_the_median_of_three_by_hand():
    """One column of zeros: the best constant is the median 1; at 2 the sum of half absolute deviations is 5 instead of 4.5."""
    rows, y = np.zeros((3, 1)), np.array([0.0, 1.0, 9.0])
    model = QuantileRegressor(alpha=1.0).fit(rows, y)
    assert certify(model, rows, y)["audit.gap"].value == pytest.approx(0.0, abs=1e-9)
    model.intercept_ = np.float64(2.0)
    assert certify(model, rows, y)["audit.gap"].value == pytest.approx(0.5 / 3)  # of the mean


def test_sparse_rows():
    model = QuantileRegressor(alpha=0.01).fit(sparse.csc_array(X), Y)
    assert certify(model, sparse.csc_array(X), Y).holds
