"""Designs before targets, all solutions of least squares, and the order along every penalty path."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import (
    DataWarning,
    ElasticNet,
    InvalidData,
    InvalidParameter,
    Lasso,
    LinearRegression,
    Ridge,
    design_report,
    least_squares_solutions,
    penalty_path,
)


def test_eigenvalues_of_the_notes():
    report = design_report([[0.0], [1.0], [2.0]])
    assert report.variance_trace == pytest.approx(4 / 3)
    assert np.sum(1 / report.eigenvalues) == pytest.approx(4 / 3)
    gd = design_report([[1.0], [2.0], [3.0]])
    assert gd.eigenvalues == pytest.approx([0.36059, 16.63941], abs=5e-6)
    assert gd.condition_number == pytest.approx(16.63941 / 0.36059, rel=1e-4)


def test_ridge_is_always_invertible():
    X = np.column_stack([np.arange(5.0), np.arange(5.0), np.ones(5)])
    with pytest.warns(DataWarning, match="columns are dependent"):
        plain = design_report(X, fit_intercept=False)
    assert plain.rank == 2 and plain.condition_number == math.inf and plain.variance_trace == math.inf
    ridge = design_report(X, fit_intercept=False, alpha=0.3)
    assert ridge.eigenvalues[0] >= 0.3
    assert ridge.condition_number <= ridge.condition_bound * (1 + 1e-12)
    weights = Ridge(0.3, fit_intercept=False).fit(X, [1.0, 3.0, 2.0, 5.0, 4.0]).coef_
    assert weights[0] == pytest.approx(weights[1])  # duplicated columns share the weight


def test_exploding_standard_errors_warn():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(30)
    X = np.column_stack([x, x + 1e-6 * rng.standard_normal(30)])
    y = x + rng.standard_normal(30)
    model = LinearRegression().fit(X, y)
    with pytest.warns(DataWarning, match="nearly determine it"):
        table = model.inference(X, y)
    assert table.standard_errors[1:].min() > 1e4
    with pytest.warns(DataWarning, match="nearly dependent"):
        report = design_report(X)
    assert report.inflation.min() > 1e10
    assert design_report(np.eye(3), fit_intercept=False).inflation == pytest.approx([1, 1, 1])


def test_constant_column_warns_and_returns_the_mean():
    with pytest.warns(DataWarning, match="every column is constant"):
        model = LinearRegression().fit([[2.0], [2.0], [2.0]], [1.0, 2.0, 6.0])
    assert model.coef_.tolist() == [0.0] and model.intercept_ == pytest.approx(3.0)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), d=st.integers(1, 6), intercept=st.booleans())
def test_all_solutions_fit_alike(seed, n, d, intercept):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.standard_normal(n)
    found = least_squares_solutions(X, y, fit_intercept=intercept)
    Z = np.column_stack([X, np.ones(n)]) if intercept else X
    best = float(np.sum((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2))
    joint = np.append(found.joint_coef, found.joint_intercept)
    assert found.squares == pytest.approx(best, abs=1e-9)
    assert found.rank == np.linalg.matrix_rank(Z)
    moved, b = found.solution(rng.standard_normal(found.null_space.shape[1]))
    assert X @ moved + b == pytest.approx(X @ found.joint_coef + found.joint_intercept, abs=1e-9)
    assert X @ found.coef + found.intercept == pytest.approx(X @ found.joint_coef + found.joint_intercept, abs=1e-9)
    size = np.sum(np.append(moved, b) ** 2)
    extra = np.append(moved, b) - joint
    assert size == pytest.approx(joint @ joint + extra @ extra, abs=1e-9)  # Pythagoras
    if not intercept:
        assert found.intercept == found.joint_intercept == 0.0


def test_one_row_of_the_notes():
    found = least_squares_solutions([[2.0]], [5.0])
    assert (found.coef[0], found.intercept) == (0.0, 5.0)
    assert (found.joint_coef[0], found.joint_intercept) == pytest.approx((2.0, 1.0))
    model = LinearRegression().fit([[2.0]], [5.0])
    assert (model.coef_[0], model.intercept_) == (0.0, 5.0)
    with pytest.raises(InvalidData, match="one finite target per row"):
        least_squares_solutions([[1.0]], [1.0, 2.0])


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_losses_rise_and_penalties_fall(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((15, 4)), rng.standard_normal(15)
    models = (Lasso(tol=1e-10), ElasticNet(tol=1e-10), Ridge(), Ridge(penalize_intercept=True))
    for model in models:
        path = penalty_path(model, X, y, [1.0, 0.01, 0.1, 0.3])
        assert path.monotone and path.violation >= 0
    assert penalty_path(Ridge(), X, y, [2.0]).penalties[0] == pytest.approx(np.sum(Ridge(2.0).fit(X, y).coef_ ** 2))
    with pytest.raises(InvalidParameter, match="Ridge, Lasso or ElasticNet"):
        penalty_path(LinearRegression(), X, y, [1.0])
    with pytest.raises(InvalidData, match="alphas"):
        penalty_path(Lasso(), X, y, [0.0])
