"""Support vector regression: worked numbers, an independent solver, scikit-learn, four kinds of rows, and the certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import svm as theirs

from surefit import SVR, InvalidParameter, LinearSVR
from surefit.core.errors import ConvergenceWarning
from surefit.kernels import RBF, Linear

TWO = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])


def problem(seed=0, n=60, d=2, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + noise * rng.standard_normal(n)


def oracle(K, y, C, epsilon, weights=None, intercept=True):
    c = C * (np.ones(len(y)) if weights is None else weights)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    w, b = cp.Variable(len(y)), cp.Variable()
    outside = cp.pos(cp.abs(y - root @ w - (b if intercept else 0.0)) - epsilon)
    goal = cp.Minimize(cp.sum_squares(w) / 2 + c @ outside)
    return cp.Problem(goal).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)


def test_two_points_by_hand():
    model = SVR(kernel="linear", C=10.0, epsilon=0.5, tol=1e-12).fit(*TWO)
    assert model.dual_coef_ == pytest.approx(np.array([[-0.25, 0.25]]))
    assert model.coef_[0, 0] == pytest.approx(0.5) and model.objective_ == pytest.approx(0.125)
    assert model.points_.tolist() == ["on tube", "on tube"]


def test_offset_is_free_when_no_row_is():
    model = SVR(kernel="linear", C=0.1, epsilon=0.5, tol=1e-12).fit(*TWO)
    assert model.dual_coef_ == pytest.approx(np.array([[-0.1, 0.1]]))
    assert model.intercept_interval_ == pytest.approx(np.array([[-0.3, 0.3]])) and model.intercept_ == pytest.approx(
        [0.0]
    )
    assert model.objective_ == pytest.approx(0.08)
    assert model.points_.tolist() == ["below", "above"]


@pytest.mark.parametrize("C", [0.3, 1.0, 5.0])
def test_one_point_without_offset(C):
    model = SVR(kernel="linear", C=C, epsilon=0.5, fit_intercept=False, tol=1e-12).fit([[1.0]], [2.0])
    assert model.dual_coef_ == pytest.approx(np.array([[min(C, 1.5)]])) and model.intercept_.tolist() == [0.0]


def test_a_tube_wide_enough_holds_a_constant():
    X, y = problem(1)
    model = SVR(epsilon=float(np.ptp(y)) / 2 + 0.1).fit(X, y)
    assert len(model.support_) == 0 and model.dual_gap_ == 0.0 and set(model.points_) == {"inside"}
    assert model.intercept_interval_[0] == pytest.approx([y.max() - model.epsilon, y.min() + model.epsilon])
    assert model.predict(X[:2]) == pytest.approx(np.full(2, model.intercept_[0]))
    assert model.verify(X, y)["svr.gap"].ok


def test_rules_of_every_row():
    X, y = problem(2)
    model = SVR(C=0.5, epsilon=0.2, gamma=0.5, tol=1e-12).fit(X, y)
    beta, e = np.zeros(len(y)), y - model.predict(X)
    beta[model.support_] = model.dual_coef_[0]
    assert np.all(np.abs(e[beta == 0]) <= 0.2 + 1e-7)
    assert e[(beta > 0) & (beta < 0.5)] == pytest.approx(0.2, abs=1e-7)
    assert e[(beta < 0) & (beta > -0.5)] == pytest.approx(-0.2, abs=1e-7)
    assert np.all(e[beta == 0.5] >= 0.2 - 1e-7) and np.all(e[beta == -0.5] <= -0.2 + 1e-7)
    assert set(model.points_) == {"inside", "on tube", "above", "below"}
    assert abs(beta.sum()) <= 1e-14


def test_rows_inside_the_tube_can_go():
    X, y = problem(3)
    model = SVR(C=0.5, epsilon=0.2, gamma=0.5, tol=1e-12).fit(X, y)
    again = SVR(C=0.5, epsilon=0.2, gamma=0.5, tol=1e-12).fit(X[model.support_], y[model.support_])
    assert again.predict(X) == pytest.approx(model.predict(X), abs=1e-6)


@pytest.mark.parametrize(
    "seed, C, epsilon, intercept",
    [(0, 0.1, 0.1, True), (1, 1.0, 0.0, True), (2, 100.0, 0.3, True), (3, 1.0, 0.1, False)],
)
def test_against_an_interior_point_solver(seed, C, epsilon, intercept):
    X, y = problem(seed, n=40)
    s = np.random.default_rng(seed).uniform(0.5, 2.0, 40)
    model = SVR(gamma=0.7, C=C, epsilon=epsilon, fit_intercept=intercept, tol=1e-11).fit(X, y, sample_weight=s)
    assert model.objective_ == pytest.approx(oracle(RBF(gamma=0.7)(X), y, C, epsilon, s, intercept), rel=1e-8)


def test_numbers_of_scikit_learn():
    X, y = problem(4, n=200)
    ours = SVR(gamma=0.5, tol=1e-10).fit(X, y)
    peer = theirs.SVR(gamma=0.5, tol=1e-8).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), abs=1e-5)
    assert ours.intercept_ == pytest.approx(peer.intercept_, abs=1e-5)
    assert np.array_equal(ours.support_, peer.support_) and ours.n_support_ == peer.n_support_
    assert ours.dual_coef_ == pytest.approx(peer.dual_coef_, abs=1e-4)


def test_linear_kernel_is_the_linear_machine():
    X, y = problem(5)
    kernel = SVR(kernel="linear", epsilon=0.1, tol=1e-12).fit(X, y)
    weights = LinearSVR(epsilon=0.1, tol=1e-9).fit(X, y)
    assert kernel.coef_.ravel() == pytest.approx(weights.coef_, abs=1e-3)
    assert X @ kernel.coef_[0] + kernel.intercept_ == pytest.approx(kernel.predict(X))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1]))
def test_weights_are_repetitions(seed, epsilon):
    X, y = problem(seed, n=14)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[0] = 1
    weighted = SVR(tol=1e-11, epsilon=epsilon).fit(X, y, sample_weight=times)
    repeated = SVR(tol=1e-11, epsilon=epsilon).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)


def test_certificate_is_enclosed():
    X, y = problem(6)
    for container in (np.asarray, sparse.csr_array):
        model = SVR(C=1e3, gamma=0.5, tol=1e-9).fit(container(X), y)
        found = model.verify(container(X), y)
        assert found["svr.gap"].level == "enclosed" and found["svr.gap"].proved <= 1e-8 * model.objective_
        assert 0.0 < model.dual_gap_ - model.sample_gap_.sum() <= 1e-8 * model.objective_  # rounding is counted
    best = SVR(C=1e3, gamma=0.5, tol=1e-11).fit(X, y)
    assert model.objective_ - best.objective_ <= found["svr.gap"].proved


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hard_cases_end_with_an_honest_gap(C):
    X, y = problem(7)
    cases = {
        "twins with two targets": (np.vstack([X, X]), np.concatenate([y, -y]), RBF(gamma=1.0)),
        "constant kernel": (np.zeros_like(X), y, RBF(gamma=1.0)),
        "identity": (X, y, RBF(gamma=1e6)),
        "huge features": (X * 1e8, y, Linear()),
        "huge targets": (X, y * 1e8, RBF(gamma=1.0)),
    }
    for name, (Z, t, kernel) in cases.items():
        model = SVR(kernel=kernel, C=C, max_time=20.0).fit(Z, t)
        assert np.isfinite(model.verify(Z, t)["svr.gap"].proved), name
        assert model.certificate_.run["reason"] != "max_time", name


def test_time_ends_a_fit_and_warm_start_continues():
    X, y = problem(8, n=800)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        assert SVR(C=1e3, tol=1e-12, max_time=1e-9).fit(X, y).dual_gap_ > 0
    model = SVR(warm_start=True, tol=1e-5).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first // 10
    with pytest.raises(InvalidParameter, match="epsilon must be a finite number >= 0"):
        SVR(epsilon=-1.0).fit(X, y)
