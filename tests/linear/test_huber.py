"""HuberRegressor: worked numbers and identities first, cvxpy and scikit-learn second, hard data last."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as theirs
from tests.hard_data import hard_data
from tests.reliability.roster import Case, fitted, verify

from surefit import CertificateError, HuberRegressor, InvalidParameter, Ridge
from surefit.core.errors import ConvergenceWarning

EPSILON = 1.35


def sample(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    return X, X @ rng.normal(size=d) + 2 + rng.standard_t(1.5, size=n), rng.random(n) + 0.2


def objective(X, y, s, alpha, w, b, scale, epsilon=EPSILON):
    t = np.abs(y - X @ w - b) / scale
    H = np.where(t <= epsilon, t**2, 2 * epsilon * t - epsilon**2)
    return float(np.sum(s * scale * (1 + H)) + alpha * w @ w)


def test_without_outliers_it_is_ridge_regression_with_a_scale():
    # within the edges P = S sigma + (RSS / sigma) + alpha |w|^2: sigma^2 = RSS / S, and the penalty counts sigma times
    X, _, _ = sample(1)
    y = X @ [1.0, 2.0, 3.0] + np.tile([0.5, -0.5], 30)
    model = HuberRegressor(epsilon=50, alpha=0.5, tol=1e-11).fit(X, y)
    same = Ridge(0.5 * model.scale_).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-6)
    assert model.scale_**2 == pytest.approx(np.mean((y - same.predict(X)) ** 2), rel=1e-5)
    assert not model.outliers_.any()


def test_scaling_the_targets_scales_the_model():
    X, y, _ = sample(2)
    one, ten = (HuberRegressor(alpha=0.0, tol=1e-12).fit(X, c * y) for c in (1.0, 10.0))
    np.testing.assert_allclose(ten.coef_, 10 * one.coef_, rtol=1e-5)
    assert ten.scale_ == pytest.approx(10 * one.scale_, rel=1e-5)
    assert np.array_equal(one.outliers_, ten.outliers_)
    assert np.array_equal(one.outliers_, np.abs(y - one.predict(X)) > EPSILON * one.scale_)


@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_no_coefficients_and_no_scale_are_better_than_the_gap_allows(alpha, intercept):
    X, y, s = sample(3 + intercept)
    model = HuberRegressor(alpha=alpha, fit_intercept=intercept, tol=1e-7).fit(X, y, s)
    w, b, sigma, t = cp.Variable(3), cp.Variable(), cp.Variable(nonneg=True), cp.Variable(len(y))
    inner = cp.Variable(len(y))  # sigma H(r / sigma) = min inner^2 / sigma + 2 epsilon |r - inner|
    limits = [t[i] >= cp.quad_over_lin(inner[i], sigma) for i in range(len(y))] + ([] if intercept else [b == 0])
    rest = 2 * EPSILON * cp.abs(y - X @ w - b - inner)
    goal = s.sum() * sigma + s @ (t + rest) + alpha * cp.sum_squares(w)
    best = cp.Problem(cp.Minimize(goal), limits).solve(solver="CLARABEL")
    mine = objective(X, y, s, alpha, model.coef_, model.intercept_, model.scale_)
    assert -1e-6 * best <= mine - best <= model.dual_gap_ + 1e-6 * best
    assert model.certificate_["linear.gap"].holds and model.dual_gap_ <= 1e-4 * best
    model.verify(X, y, s)
    other = theirs.HuberRegressor(alpha=alpha, fit_intercept=intercept, max_iter=10_000).fit(X, y, s)
    assert mine <= objective(X, y, s, alpha, other.coef_, other.intercept_, other.scale_) + model.dual_gap_


def test_any_point_has_a_gap_that_bounds_its_excess():
    X, y, s = sample(5)
    best = HuberRegressor(alpha=0.1, tol=1e-10).fit(X, y, s)
    least = objective(X, y, s, 0.1, best.coef_, best.intercept_, best.scale_)
    for steps in (1, 2, 3, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = HuberRegressor(alpha=0.1, max_iter=steps, tol=0.0).fit(X, y, s)
        excess = objective(X, y, s, 0.1, model.coef_, model.intercept_, model.scale_) - least
        assert excess <= model.dual_gap_ and model.n_iter_ == steps
        model.verify(X, y, s)


def test_sparse_rows_weights_and_warm_starts():
    X, y, s = sample(6)
    s = np.round(3 * s)
    one, two = HuberRegressor(tol=1e-10).fit(sparse.csr_array(X), y, s), HuberRegressor(tol=1e-10)
    two.fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-4)
    one.verify(sparse.csr_array(X), y, s)
    two.set_params(warm_start=True, tol=1e-8).fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))
    assert two.n_iter_ <= 1


def test_other_scales_and_duals_are_found_out():
    X, y, _ = sample(7)
    certificate = HuberRegressor(alpha=0.1, tol=1e-9).fit(X, y).certificate_
    claim = certificate["linear.gap"]
    for scale in (0.9, 1.1, 0.0, -1.0, np.nan, np.inf):
        model = {**certificate.model, "scale_": certificate.model["scale_"] * scale}
        with pytest.raises(CertificateError):
            replace(certificate, model=model, seal="", subject=None).verify(X, y)
    for dual in (2 * claim.witness["dual_0"], -claim.witness["dual_0"], np.zeros(len(y)), np.full(len(y), np.nan)):
        other = replace(claim, witness={"dual_0": dual})
        with pytest.raises(CertificateError, match=r"linear\.gap"):
            replace(certificate, claims=(other, *certificate.claims[1:]), seal="", subject=None).verify(X, y)


@pytest.mark.parametrize("data", hard_data(), ids=lambda data: data.name)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")  # squares of residuals that are nearly zero, in the proof
def test_hard_data_are_fitted_and_proved(data):
    for model in (HuberRegressor(), HuberRegressor(alpha=0.0)):
        case = Case(model, data.X, data.y, data.weights)
        assert fitted(case) is not None
        found = verify(model.certificate_, case)
        assert all(f.proved <= f.claimed for f in found.findings if f.name.startswith("linear."))


@pytest.mark.parametrize("options", [{"epsilon": 0.9}, {"alpha": -1.0}, {"max_iter": 0}, {"tol": -1.0}], ids=str)
def test_bad_parameters_are_named(options):
    X, y, _ = sample(8)
    with pytest.raises(InvalidParameter, match=next(iter(options))):
        HuberRegressor(**options).fit(X, y)
