"""Least absolute deviations: medians first, a cone solver second, odd input last."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from surefit import CertificateError, DataWarning, InvalidParameter, LeastAbsoluteDeviations, LinearRegression


def problem(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 5
    return X, X @ np.arange(1.0, d + 1) + 2 + rng.laplace(size=n)


def objective(X, y, w, b, s=1.0):
    return float(np.sum(s * np.abs(y - X @ w - b)))


def test_a_constant_is_the_median_and_a_far_point_does_not_move_it():
    X = np.zeros((3, 1))
    for far in (10.0, 1000.0):
        y = np.array([0.0, 0.0, far])
        model = LeastAbsoluteDeviations().fit(X, y)
        assert (
            model.predict(X)[0] == 0.0
            and model.objective_ == pytest.approx(far, rel=1e-12)
            and model.scale_ == pytest.approx(far / 3)
        )
        with pytest.warns(DataWarning, match="every column is constant"):
            mean = LinearRegression().fit(X, y)
        assert mean.predict(X)[0] == pytest.approx(far / 3)
        model.verify(X, y)


def test_dual_signs_are_those_of_the_residuals():
    X, y = problem()
    model = LeastAbsoluteDeviations().fit(X, y)
    r = y - model.predict(X)
    clear = np.abs(r) > 1e-8
    np.testing.assert_allclose(model.dual_[clear], np.sign(r[clear]), atol=1e-9)
    assert np.sum(~clear) >= 4  # a vertex passes through as many rows as it has coefficients
    assert model.dual_ @ y == pytest.approx(model.objective_, rel=1e-10)


def test_maximizes_the_laplace_likelihood():
    X, y = problem(1)
    model = LeastAbsoluteDeviations().fit(X, y)
    best = stats.laplace.logpdf(y, model.predict(X), model.scale_).sum()
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = X @ (model.coef_ + 0.05 * rng.standard_normal(3)) + model.intercept_ + 0.05 * rng.standard_normal()
        assert stats.laplace.logpdf(y, moved, model.scale_).sum() < best


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_agrees_with_a_cone_solver(fit_intercept, container):
    X, y = problem(2)
    s = np.random.default_rng(0).uniform(0.2, 3, 40)
    w, b = cp.Variable(3), cp.Variable()
    r = y - X @ w - (b if fit_intercept else 0)
    best = cp.Problem(cp.Minimize(cp.sum(cp.multiply(s, cp.abs(r))))).solve(solver="CLARABEL")
    model = LeastAbsoluteDeviations(fit_intercept=fit_intercept).fit(container(X), y, s)
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    assert model.dual_gap_ < 1e-8
    assert model.verify(container(X), y, s)["linear.gap"].ok


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_repeating_rows_is_weighting_them(seed):
    X, y = problem(seed, n=12, d=2)
    s = np.random.default_rng(seed).integers(0, 3, 12)
    s[:4] = 1
    one = LeastAbsoluteDeviations().fit(X, y, s)
    two = LeastAbsoluteDeviations().fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    one.verify(X, y, s)


def test_a_worse_model_under_the_same_claim_is_found_out():
    X, y = problem(3)
    model = LeastAbsoluteDeviations().fit(X, y)
    certificate = model.certificate_
    model.coef_ = model.coef_ + 0.01
    model._issue("A", list(certificate.claims), problem=certificate.problem, model=("coef_", "intercept_"),
                 data=certificate.data)  # fmt: skip
    with pytest.raises(CertificateError, match=r"linear\.gap"):
        model.verify(X, y)


def test_dependent_columns_and_more_columns_than_rows():
    X, y = problem(4, n=6, d=3)
    wide = np.hstack([X, X[:, :1] * 2, X**2, X**3])
    model = LeastAbsoluteDeviations().fit(wide, y)
    assert model.objective_ < 1e-8
    model.verify(wide, y)


def test_refusal():
    with pytest.raises(InvalidParameter, match="fit_intercept"):
        LeastAbsoluteDeviations(fit_intercept="no").fit(*problem())


@pytest.mark.parametrize("seed", [2986, 2990])
def test_weights_over_forty_powers_of_ten_are_solved(seed):
    rng = np.random.default_rng(seed)  # HiGHS's presolve calls both programs infeasible
    X, y, weights = rng.normal(size=(20, 6)), rng.normal(size=20), 10.0 ** rng.uniform(-20, 20, size=20)
    LeastAbsoluteDeviations().fit(X, y, weights).verify(X, y, sample_weight=weights)
