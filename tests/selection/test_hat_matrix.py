"""Hat matrices against their closed forms, and the three choices that describe every learner."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import surefit
from surefit import (
    Certified,
    DecisionTreeRegressor,
    InvalidData,
    InvalidParameter,
    KernelRidge,
    KernelRidgeCV,
    KNeighborsRegressor,
    LinearRegression,
    PolynomialBasis,
    Ridge,
    RidgeCV,
    SmoothingSpline,
    describe,
    hat_matrix,
)
from surefit.data import make_degree10
from surefit.kernels import Min


def test_hat_matrix_of_ridge_and_kernel_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    A = X.T @ X + 0.7 * np.eye(3)
    assert hat_matrix(Ridge(0.7, fit_intercept=False), X) == pytest.approx(X @ np.linalg.solve(A, X.T), abs=1e-12)
    K = X @ X.T
    assert hat_matrix(KernelRidge(0.7), X) == pytest.approx(K @ np.linalg.inv(K + 0.7 * np.eye(12)), abs=1e-12)
    weights = rng.random(12) + 0.1
    W = np.diag(weights)
    expected = X @ np.linalg.solve(X.T @ W @ X + 0.7 * np.eye(3), X.T @ W)
    assert hat_matrix(Ridge(0.7, fit_intercept=False), X, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


def test_special_and_general_linear_smoothing_spline():
    x = np.array([0.1, 0.25, 0.4, 0.7, 0.95])
    n, lam = 5, 0.02
    K = Min()(x[:, None])
    special = hat_matrix(SmoothingSpline(1, lam=lam, form="special"), x[:, None])
    assert special == pytest.approx(K @ np.linalg.inv(K + n * lam * np.eye(n)), abs=1e-12)
    values = np.linalg.eigvalsh(special)
    gamma = np.linalg.eigvalsh(K)
    assert values == pytest.approx(1 / (1 + lam * n / gamma))
    P = np.full((n, n), 1 / n)
    Q = np.eye(n) - P
    general = hat_matrix(SmoothingSpline(1, lam=lam), x[:, None])
    assert general == pytest.approx(P + Q @ np.linalg.inv(Q + lam * n * np.linalg.inv(K)) @ Q, abs=1e-11)
    assert general @ np.ones(n) == pytest.approx(np.ones(n))
    assert np.sum(np.isclose(np.linalg.eigvalsh(general), 1)) == 1


def test_fitted_choices_are_kept_and_predictions_agree():
    rng = np.random.default_rng(1)
    X = np.sort(rng.random((20, 1)), axis=0)
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(20)
    models = (RidgeCV(), KernelRidgeCV(kernel="rbf"), SmoothingSpline(), KNeighborsRegressor(3), LinearRegression())
    for model in models:
        model.fit(X, y)
        H = hat_matrix(model, X)
        assert H @ y == pytest.approx(model.predict(X), abs=1e-8), type(model).__name__
        at = np.array([[0.33], [0.9]])
        assert hat_matrix(model, X, at=at) @ y == pytest.approx(model.predict(at), abs=1e-8)
    assert np.trace(hat_matrix(models[2], X)) == pytest.approx(models[2].edof_, rel=1e-6)
    with pytest.raises(InvalidParameter, match="fitted, because its penalty"):
        hat_matrix(SmoothingSpline(), X)
    with pytest.raises(InvalidParameter, match="linear in y"):
        hat_matrix(DecisionTreeRegressor(), X)
    with pytest.raises(InvalidParameter, match="positive"):
        hat_matrix(LinearRegression(positive=True), X)
    with pytest.raises(InvalidData, match="no rows"):
        hat_matrix(LinearRegression(), np.zeros((0, 1)))


def test_moving_one_point_of_a_degree_ten_fit():
    X, _, truth = make_degree10()
    row = truth["moved_row"]
    grid = np.linspace(-5, 5, 1001)[:, None]
    line = hat_matrix(LinearRegression(), X)
    assert 5 * np.abs(line[:, row]).max() == pytest.approx(0.4545, abs=5e-5)
    curve = hat_matrix(make_pipeline(PolynomialBasis(10, scale=True), LinearRegression()), X, at=grid)
    assert 5 * np.abs(curve[:, row]).max() == pytest.approx(30.73, abs=0.01)  # the Lagrange polynomial of the node


def test_every_predictor_names_its_three_choices():
    for name in surefit.__all__:
        kind = getattr(surefit, name)
        if not (inspect.isclass(kind) and issubclass(kind, BaseEstimator) and hasattr(kind, "predict")):
            continue
        if "estimator" in inspect.signature(kind).parameters and not describes_itself(kind):
            assert describe(kind(Ridge())).name == "Ridge"
        elif name != "StructuralRiskMinimizer":  # a choice among several learners
            found = describe(kind)
            assert all(len(text) > 2 for text in found), name
    assert describe(Certified(make_pipeline(PolynomialBasis(2), Ridge()))).loss == "squared"
    with pytest.raises(InvalidData, match="does not state"):
        describe(object())


def describes_itself(kind) -> bool:
    try:
        return bool(describe(kind))
    except InvalidData:
        return False
