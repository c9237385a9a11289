"""Kernel logistic regression: worked numbers, an independent solver, the linear model, and the certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit
from tests.forging import with_claim

from surefit import CertificateError, InvalidData, InvalidParameter, KernelLogisticRegression, LogisticRegression
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning
from surefit.kernels import RBF, Sigmoid, StringSubsequence


def problem(seed=0, n=40, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.standard_normal(n)
    y = np.floor((angle + np.pi) / (2 * np.pi) * classes).astype(int) % classes
    y[:classes] = np.arange(classes)
    return X, y


def test_two_points_by_hand():
    # by symmetry the slope is 2 beta, both margins are 2 beta, and beta = C sigma(-2 beta)
    model = KernelLogisticRegression(C=3.0, kernel="linear", tol=1e-14).fit([[-1.0], [1.0]], [0, 1])
    beta = brentq(lambda b: b - 3.0 * expit(-2 * b), 0, 3)
    assert model.dual_coef_ == pytest.approx(np.array([[-beta, beta]])) and abs(model.intercept_[0]) < 1e-12


@pytest.mark.parametrize("seed, C, offset", [(0, 0.3, True), (1, 5.0, True), (2, 1.0, False)])
def test_against_an_interior_point_solver(seed, C, offset):
    X, y = problem(seed, n=25)
    s = np.random.default_rng(seed).uniform(0.5, 2, 25)
    values, vectors = np.linalg.eigh(RBF(gamma=0.7)(X))
    root = vectors * np.sqrt(np.maximum(values, 0))
    w, b, t = cp.Variable(25), cp.Variable(), 2 * y - 1
    scores = root @ w + (b if offset else 0.0)
    best = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * s @ cp.logistic(-cp.multiply(t, scores)))).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    model = KernelLogisticRegression(C, gamma=0.7, fit_intercept=offset, tol=1e-12).fit(X, y, s)
    assert model.objective_ == pytest.approx(best, rel=1e-8)
    assert model.verify(X, y, s)["kernel_logistic.gap"].proved <= 1e-11 * model.objective_


@pytest.mark.parametrize("offset", [False, True])
def test_linear_kernel_is_the_linear_model(offset):
    X, y = problem(3)
    ours = KernelLogisticRegression(0.8, kernel="linear", fit_intercept=offset, tol=1e-13).fit(X, y)
    flat = LogisticRegression(C=0.8, fit_intercept=offset, tol=1e-12).fit(X, y)
    assert ours.dual_coef_ @ X == pytest.approx(flat.coef_, abs=1e-6)
    assert ours.predict_proba(X) == pytest.approx(flat.predict_proba(X), abs=1e-6)


def test_coefficients_are_prices_times_probabilities_of_the_other_class():
    X, y = problem(4)
    s = np.random.default_rng(4).uniform(0.5, 2, len(y))
    model = KernelLogisticRegression(2.0, tol=1e-13).fit(X, y, s)
    other = model.predict_proba(X)[np.arange(len(y)), 1 - y]
    assert model.dual_coef_[0] == pytest.approx(2.0 * s * (2 * y - 1) * other, abs=1e-6)
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-6)


def test_several_classes_are_one_against_the_rest():
    X, y = problem(5, n=60, classes=3)
    model = KernelLogisticRegression(4.0, gamma=0.5, class_weight="balanced", multi_class="ovr").fit(X, y)
    assert model.decision_function(X).shape == (60, 3) and model.score(X, y) > 0.7
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))
    assert np.array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    weights = model.certificate_.problem["class_weights"]
    one = KernelLogisticRegression(4.0, gamma=0.5).fit(X, y == 1, np.asarray(weights)[y])
    assert one.decision_function(X) == pytest.approx(model.decision_function(X)[:, 1], abs=1e-3)
    assert model.verify(X, y)["kernel_logistic.gap"].level == "enclosed"


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_repetitions(seed, offset):
    X, y = problem(seed, n=14)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:2] = 1
    options = {"gamma": 0.5, "fit_intercept": offset, "tol": 1e-13}
    counted = KernelLogisticRegression(**options).fit(X, y, times)
    repeated = KernelLogisticRegression(**options).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.decision_function(X) == pytest.approx(repeated.decision_function(X), abs=1e-6)
    assert counted.verify(X, y, times)["kernel_logistic.distance"].ok


@pytest.mark.parametrize("C", [1e-6, 1e2, 1e5])
def test_extreme_prices(C):
    X, y = problem(6)
    model = KernelLogisticRegression(C, gamma=2.0).fit(X, y)
    assert model.certificate_.holds and model.verify(X, y)["kernel_logistic.gap"].ok


def test_duplicate_rows_with_both_labels_and_strings():
    X, y = np.zeros((6, 2)), np.array([0, 0, 1, 1, 1, 1])
    model = KernelLogisticRegression(gamma=1.0).fit(X, y)
    assert model.predict_proba(X[:1])[0, 1] == pytest.approx(2 / 3, abs=1e-4)
    words = ["cat", "cart", "dog", "dig"]
    spoken = KernelLogisticRegression(10.0, kernel=StringSubsequence(2, 0.5)).fit(words, ["c", "c", "d", "d"])
    assert spoken.predict(["bat", "dogs"]).tolist() == ["c", "d"] and spoken.verify(words, ["c", "c", "d", "d"])


def test_an_early_stop_has_an_honest_gap():
    X, y = problem(7)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelLogisticRegression(100.0, gamma=2.0, max_iter=1, tol=1e-12).fit(X, y)
    assert model.certificate_.holds is False and model.verify(X, y)["kernel_logistic.gap"].ok
    best = KernelLogisticRegression(100.0, gamma=2.0, tol=1e-12).fit(X, y).objective_
    assert 0 < model.objective_ - best <= model.dual_gap_
    model.set_params(warm_start=True, max_iter=50).fit(X, y)
    assert model.objective_ == pytest.approx(best)


def test_a_worse_model_is_refused():
    X, y = problem(8)
    model = KernelLogisticRegression(tol=1e-10).fit(X, y)
    model.dual_coef_ = model.dual_coef_ * 1.01
    old = model.certificate_
    model._issue("A", list(old.claims), problem=old.problem, model=("dual_coef_", "intercept_"), data=old.data)
    with pytest.raises(CertificateError, match=r"kernel_logistic\.gap"):
        model.verify(X, y)


def test_what_it_refuses():
    X, y = problem(9)
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        KernelLogisticRegression(kernel=Sigmoid(gamma=1.0)).fit(X, y)
    with pytest.raises(InvalidData, match="one class"):
        KernelLogisticRegression().fit(X, np.zeros(len(y)))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-6, 0.5), st.sampled_from(["dual_coef_", "intercept_"]))
def test_the_checker_bounds_what_was_spoilt_and_no_more(seed, size, name):
    X, y = problem(seed, n=12)
    model = KernelLogisticRegression(2.0, gamma=0.5, tol=1e-12).fit(X, y)
    best, old = model.objective_, model.certificate_
    now = getattr(model, name)
    setattr(model, name, now + size * np.random.default_rng(seed).standard_normal(now.shape))

    name = "kernel_logistic.gap"
    model._issue("A", [Claim(name)], problem=old.problem, model=tuple(old.model), sample=(X, y.astype(float), None))
    issued = model.certificate_
    beta = model.dual_coef_[0]
    loss = np.sum(np.logaddexp(0.0, (1 - 2 * y) * model.decision_function(X)))
    gap = model.verify(X, y)[name].proved
    assert beta @ model.kernel_(X) @ beta / 2 + 2.0 * loss - best <= gap * (1 + 1e-9)
    with pytest.raises(CertificateError, match=r"kernel_logistic\.gap"):
        with_claim(issued, name, value=0.9999999 * gap).verify(X, y)
