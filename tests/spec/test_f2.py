"""Items F26 to F41: the dual of kernel ridge regression, support vector regression, the lasso."""

from itertools import product

import numpy as np
import pytest

import surefit as sf

approx = pytest.approx
K2, Y2 = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])
PAIR, ENDS = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
LINE, LEVELS = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])


def test_F26():
    model = sf.KernelRidge(1.0, kernel="precomputed").fit(K2, Y2)
    assert model.dual_coef_ == approx([0.375, -0.125]) and model.objective_ == approx(0.375)
    assert Y2 - model.predict(K2) == approx(model.dual_coef_)


def test_F27():
    rng = np.random.default_rng(0)
    for shape in ((5, 3), (3, 5)):
        X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
        w = np.linalg.solve(0.4 * np.eye(shape[1]) + X.T @ X, X.T @ y)
        assert sf.Ridge(0.4, fit_intercept=False).fit(X, y).coef_ == approx(w)
        assert sf.KernelRidge(0.4).fit(X, y).predict(X) == approx(X @ w)


def test_F28():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 1)), rng.standard_normal(30)
    model = sf.SVR(kernel="linear", epsilon=0.5, tol=1e-8).fit(X, y)
    counts = {kind: int(np.sum(model.points_ == kind)) for kind in np.unique(model.points_)}
    assert sum(counts.values()) == 30 and counts["inside"] == np.sum(np.abs(y - model.predict(X)) < 0.5 - 1e-6)


def test_F29():
    u = np.linspace(-2, 2, 9)
    assert sf.losses.value(sf.losses.EpsilonInsensitive(0.5), 0.0, u) == approx(np.maximum(0, np.abs(u) - 0.5))


def test_F30():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((25, 2)), rng.standard_normal(25)
    linear = sf.LinearSVR(C=1.0, epsilon=0.2, tol=1e-7).fit(X, y)
    kernel = sf.SVR(kernel="linear", C=1.0, epsilon=0.2, tol=1e-9).fit(X, y)
    assert linear.coef_.ravel() == approx(kernel.coef_.ravel(), abs=1e-3)


def test_F31():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((25, 2)), rng.standard_normal(25)
    model = sf.SVR(kernel="rbf", gamma=0.5, C=1.0, epsilon=0.3, tol=1e-9).fit(X, y)
    report = sf.kkt_report(model, X, y)
    assert report.optimal(1e-3) and report.relative_gap < 1e-6
    assert any("tube" in name for name in report.conditions)
    beta, e = np.zeros(25), y - model.predict(X)
    beta[model.support_] = model.dual_coef_[0]
    at = np.abs(beta) > 1 - 1e-9
    free = (beta != 0) & ~at
    assert np.all(np.abs(e[beta == 0]) <= 0.3 + 1e-4) and e[free] == approx(0.3 * np.sign(beta[free]), abs=1e-4)
    assert np.all((e * np.sign(beta))[at] >= 0.3 - 1e-4) and free.any() and at.any()
    assert beta.sum() == approx(0, abs=1e-9)


def test_F32():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((25, 1)), rng.standard_normal(25)
    model = sf.SVR(kernel="linear", C=1.0, epsilon=0.4, tol=1e-10).fit(X, y)
    sides = sf.kkt_report(model, X, y).sides
    beta = np.zeros(25)
    beta[model.support_] = model.dual_coef_[0]
    assert (
        np.all(beta[sides == "above"] > 0)
        and np.all(beta[sides == "below"] < 0)
        and np.all(np.abs(beta[sides == "inside"]) < 1e-9)
    )
    assert np.all(beta[sides == "on tube, above"] >= 0) and np.all(beta[sides == "on tube, below"] <= 0)
    assert np.all(np.abs(y - model.predict(X))[model.support_] >= 0.4 - 1e-6)


def test_F33():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((25, 1)), rng.standard_normal(25)
    model = sf.SVR(kernel="linear", C=1.0, epsilon=0.4, tol=1e-10).fit(X, y)
    kept = model.points_ != "inside"
    again = sf.SVR(kernel="linear", C=1.0, epsilon=0.4, tol=1e-10).fit(X[kept], y[kept])
    assert again.coef_ == approx(model.coef_, abs=1e-4)
    flat = sf.SVR(kernel="linear", epsilon=float(np.ptp(y)) / 2).fit(X, y)
    assert flat.coef_ == approx(np.zeros((1, 1)), abs=1e-9) and len(flat.support_) == 0


def test_F34():
    model = sf.SVR(kernel="linear", C=10.0, epsilon=0.5, tol=1e-10).fit(PAIR, ENDS)
    assert model.coef_[0, 0] == approx(0.5, abs=1e-6) and model.objective_ == approx(0.125, abs=1e-7)
    small = sf.SVR(kernel="linear", C=0.1, epsilon=0.5, tol=1e-10).fit(PAIR, ENDS)
    assert small.objective_ == approx(0.08, abs=1e-7) and small.intercept_interval_[0] == approx([-0.3, 0.3], abs=1e-6)


def test_F35():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    model = sf.SVR(kernel="rbf", gamma=0.5, tol=1e-6).fit(X, y)
    K = sf.kernels.RBF(gamma=0.5)(X, X[model.support_])
    assert K @ model.dual_coef_[0] + model.intercept_[0] == approx(model.predict(X))
    beta = model.dual_coef_[0]
    assert model.rkhs_norm_**2 == approx(beta @ sf.kernels.RBF(gamma=0.5)(X[model.support_]) @ beta)


def test_F36():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((12, 1)), rng.standard_normal(12)
    loose = sf.SVR(kernel="rbf", gamma=1.0, tol=1e-2).fit(X, y)
    tight = sf.SVR(kernel="rbf", gamma=1.0, tol=1e-9).fit(X, y)
    assert 0 <= sf.kkt_report(tight, X, y).gap <= 1e-6 and loose.objective_ - tight.objective_ <= loose.dual_gap_ + 1e-9


def test_F37():
    model = sf.SVR(kernel="linear", C=10.0, epsilon=0.5, tol=1e-10).fit(PAIR, ENDS)
    assert model.dual_coef_[0] == approx([-0.25, 0.25], abs=1e-6) and model.dual_coef_.sum() == approx(0, abs=1e-12)


def test_F38():
    model = sf.Lasso(alpha=1 / 3, tol=1e-12).fit(LINE, LEVELS)
    value = 2 * abs(model.coef_[0]) + np.sum((LEVELS - model.predict(LINE)) ** 2)
    assert model.coef_[0] == approx(1.5) and value == approx(3.5)
    assert (
        sf.Lasso(alpha=8 / 6).fit(LINE, LEVELS).coef_[0] == 0 and sf.Lasso(alpha=7.9 / 6).fit(LINE, LEVELS).coef_[0] > 0
    )


def test_F39():
    model = sf.Lasso(alpha=1 / 3, tol=1e-12).fit(LINE, LEVELS)
    ball = sf.Lasso(radius=1.5, tol=1e-10).fit(LINE, LEVELS)
    assert ball.coef_ == approx(model.coef_, abs=1e-5)
    w = np.array([0.3, -1.2, 0.5])
    assert max(np.dot(s, w) for s in product((-1, 1), repeat=3)) == approx(np.abs(w).sum())


def test_F40():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 6))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    lasso, ridge = sf.Lasso(alpha=0.2, tol=1e-10).fit(X, y), sf.Ridge(1.0).fit(X, y)
    assert np.sum(lasso.coef_ != 0) < 6 and np.all(ridge.coef_ != 0)
    assert sf.kkt_report(lasso, X, y).optimal(1e-6)


def test_F41():
    rng = np.random.default_rng(8)
    X, y, lam = rng.standard_normal((12, 3)), rng.standard_normal(12), 5.0
    program = sf.duality.lasso_program(X, y, lam)
    optimum = program.solve()
    plus, minus = optimum.x[:3], optimum.x[3:6]
    model = sf.Lasso(alpha=lam / 24, tol=1e-12).fit(X, y)
    assert plus - minus == approx(model.coef_, abs=1e-5) and plus * minus == approx(np.zeros(3), abs=1e-9)
    up = optimum.x + 0.1 * np.array([1, 0, 0, 1, 0, 0, 0])
    assert program.objective(up) - program.objective(optimum.x) == approx(2 * lam * 0.1, abs=1e-6)
    assert sf.kkt_report(program, *optimum).optimal(1e-6)
