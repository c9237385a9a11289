"""Examples of the theory with numbers that are known: tubes, balls, the representer theorem, and modes of processes."""

import numpy as np
import pytest

from surefit import SVR, GaussianProcessClassifier, KernelLogisticRegression, KernelRidge, Ridge, RKHSFunction
from surefit.kernels import RBF, Linear

K2, Y2 = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])


def overlapping(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = [1, -1]
    return X, y


# --- tubes ------------------------------------------------------------------------------------------------------------


def test_a_wrong_offset_costs_and_the_norm_is_bounded_beforehand():
    x, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    model = SVR(kernel="linear", C=0.1, epsilon=0.5, tol=1e-12).fit(x, y)

    def value(b):
        return 0.02 + 0.1 * np.sum(np.maximum(np.abs(y - 0.2 * x[:, 0] - b) - 0.5, 0))

    assert value(0.3) == pytest.approx(model.objective_) == pytest.approx(0.08) and value(0.31) == pytest.approx(0.081)
    rng = np.random.default_rng(8)
    X, t = rng.standard_normal((30, 2)), rng.standard_normal(30)
    for C in (0.1, 1.0, 10.0):
        fit = SVR(C=C, epsilon=0.2, gamma=0.5).fit(X, t)
        constants = [np.sum(np.maximum(np.abs(t - b) - 0.2, 0)) for b in np.linspace(-3, 3, 601)]
        assert fit.rkhs_norm_**2 <= 2 * C * min(constants) * (1 + 1e-9)


# --- squares ----------------------------------------------------------------------------------------------------------


def test_what_is_orthogonal_to_the_rows_only_costs():
    rng = np.random.default_rng(9)
    X, y, alpha, kernel = rng.standard_normal((8, 2)), rng.standard_normal(8), 0.3, RBF(gamma=0.5)
    model = KernelRidge(alpha, kernel=kernel).fit(X, y)
    best = RKHSFunction(kernel, X, model.dual_coef_)
    extra = RKHSFunction.section(kernel, np.array([0.2, 1.5]))
    along = RKHSFunction(kernel, X, np.linalg.solve(kernel(X), extra(X)))  # its projection onto the span
    beyond = extra - along
    assert beyond(X) == pytest.approx(np.zeros(8), abs=1e-9)
    assert (best + beyond).norm() ** 2 == pytest.approx(best.norm() ** 2 + beyond.norm() ** 2)

    def objective(f):
        return np.sum((y - f(X)) ** 2) + alpha * f.norm() ** 2

    assert objective(best + beyond) - objective(best) == pytest.approx(alpha * beyond.norm() ** 2)
    assert objective(best) == pytest.approx(model.objective_)


def test_one_plus_the_inner_product_penalizes_the_offset():
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((25, 3)), rng.standard_normal(25)
    flat = Ridge(0.7, penalize_intercept=True).fit(X, y)
    assert KernelRidge(0.7, kernel=Linear() + 1.0).fit(X, y).predict(X) == pytest.approx(flat.predict(X))


def test_dual_numbers_of_two_rows():
    norms = [KernelRidge(a, kernel="precomputed").fit(K2, Y2).rkhs_norm_ ** 2 for a in (1e-9, 0.1, 1.0, 10.0)]
    assert norms == pytest.approx([0.66666667, 0.56931055, 0.21875, 0.01300797], abs=1e-7)
    bound = norms[2] / 2  # half the squared norm, in the form with halves

    def dual(lam):
        mu = lam * np.linalg.solve(lam * np.eye(2) + K2, Y2)
        return mu @ Y2 - mu @ mu / 2 - mu @ K2 @ mu / (2 * lam) - lam * bound

    assert dual(1.0) == pytest.approx(0.078125) and dual(1.0) == max(dual(1.0), dual(0.9), dual(1.1))
    slope = (dual(1.0 + 1e-6) - dual(1.0 - 1e-6)) / 2e-6 + bound
    assert slope == pytest.approx(0.109375, abs=1e-8)  # half the squared norm: the root of the slope is the radius


def test_an_interpolant_inside_the_ball_needs_no_multiplier():
    model = KernelRidge(radius=10.0, kernel="precomputed").fit([[1.0]], [0.1])
    assert model.dual_coef_ == pytest.approx([0.1]) and model.multiplier_ < 1e-9


# --- logistic losses --------------------------------------------------------------------------------------------------


def test_kernel_logistic_regression_is_the_mode_of_a_gaussian_process():
    X, y = overlapping(11)
    model = KernelLogisticRegression(1.0, kernel=RBF(length_scale=1.0), fit_intercept=False, tol=1e-13).fit(X, y)
    process = GaussianProcessClassifier(RBF(length_scale=1.0, length_scale_bounds="fixed")).fit(X, y)
    assert model.dual_coef_ == pytest.approx(process.dual_coef_, abs=1e-6)
    p = 1 / (1 + np.exp(-model.decision_function(X)))
    assert RBF(length_scale=1.0)(X) @ ((y > 0) - p) == pytest.approx(model.decision_function(X), abs=1e-6)
