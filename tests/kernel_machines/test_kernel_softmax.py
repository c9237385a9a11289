"""Multinomial kernel logistic regression: worked numbers, an independent solver, the linear model, and the certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import softmax
from tests.forging import with_claim

from surefit import Certificate, CertificateError, InvalidParameter, KernelLogisticRegression, LogisticRegression
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning
from surefit.kernels import RBF, StringSubsequence
from surefit.solvers.kernel.softmax_step import newton_step


def problem(seed=0, n=45, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.standard_normal(n)
    y = np.floor((angle + np.pi) / (2 * np.pi) * classes).astype(int) % classes
    y[:classes] = np.arange(classes)
    return X, y


@pytest.mark.parametrize("C", [0.1, 2.0, 50.0])
def test_three_orthogonal_rows_by_hand(C):
    # own score a, others -a/2 by symmetry, and a = C (1 - p) with p the probability of the own class
    a = brentq(lambda t: t - C * (1 - np.exp(t) / (np.exp(t) + 2 * np.exp(-t / 2))), 0, C)
    model = KernelLogisticRegression(C, kernel="precomputed", tol=1e-14).fit(np.eye(3), [0, 1, 2])
    assert model.dual_coef_ == pytest.approx(1.5 * a * np.eye(3) - 0.5 * a)
    assert model.predict_proba(np.eye(3)).diagonal() == pytest.approx(np.full(3, 1 - a / C))
    assert model.intercept_ == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("seed, C, offset", [(0, 0.3, True), (1, 5.0, True), (2, 1.0, False)])
def test_against_an_interior_point_solver(seed, C, offset):
    X, y = problem(seed, n=21)
    s = np.random.default_rng(seed).uniform(0.5, 2, 21)
    values, vectors = np.linalg.eigh(RBF(gamma=0.7)(X))
    root = vectors * np.sqrt(np.maximum(values, 0))
    W, b = cp.Variable((21, 3)), cp.Variable((1, 3))
    Z = root @ W + (np.ones((21, 1)) @ b if offset else 0.0)
    losses = cp.log_sum_exp(Z, axis=1) - cp.sum(cp.multiply(np.eye(3)[y], Z), axis=1)
    best = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + C * s @ losses)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    model = KernelLogisticRegression(C, gamma=0.7, fit_intercept=offset, tol=1e-12).fit(X, y, s)
    assert model.objective_ == pytest.approx(best, rel=1e-8)
    found = model.verify(X, y, s)["kernel_softmax.gap"]
    assert found.proved <= 1e-11 * model.objective_ and found.level == "enclosed"


@pytest.mark.parametrize("offset", [False, True])
def test_linear_kernel_is_the_linear_model(offset):
    X, y = problem(3)
    ours = KernelLogisticRegression(0.8, kernel="linear", fit_intercept=offset, tol=1e-13).fit(X, y)
    flat = LogisticRegression(C=0.8, fit_intercept=offset, tol=1e-12).fit(X, y)
    assert ours.dual_coef_ @ X == pytest.approx(flat.coef_, abs=1e-6)
    assert ours.predict_proba(X) == pytest.approx(flat.predict_proba(X), abs=1e-6)


def test_coefficients_are_prices_times_what_the_probabilities_lack():
    X, y = problem(4)
    s = np.random.default_rng(4).uniform(0.5, 2, len(y))
    model = KernelLogisticRegression(2.0, tol=1e-13, class_weight={0: 2.0}).fit(X, y, s)
    c = 2.0 * s * np.where(y == 0, 2.0, 1.0)
    P = model.predict_proba(X)
    assert model.dual_coef_.T == pytest.approx(c[:, None] * (np.eye(3)[y] - P), abs=1e-6)
    assert model.dual_coef_.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-6)  # free offsets
    assert c @ P == pytest.approx(c @ np.eye(3)[y])  # so the mean probabilities are the shares of the classes
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert np.exp(model.decision_function(X)) / np.exp(model.decision_function(X)).sum(
        axis=1, keepdims=True
    ) == pytest.approx(P)


def test_probabilities_are_better_than_those_of_one_against_the_rest():
    X, y = problem(5, n=300)
    joint, apart = (
        KernelLogisticRegression(1.0, gamma=0.5, multi_class=m).fit(X[::2], y[::2]) for m in ("multinomial", "ovr")
    )
    logs = [-np.mean(m.predict_log_proba(X[1::2])[np.arange(150), y[1::2]]) for m in (joint, apart)]
    assert logs[0] < logs[1]  # seed fixed
    assert joint.certificate_["kernel_softmax.gap"].holds and apart.certificate_["kernel_logistic.gap"].holds


def test_two_classes_are_one_problem():
    X, y = problem(6, classes=2)
    joint, apart = (KernelLogisticRegression(multi_class=m).fit(X, y) for m in ("multinomial", "ovr"))
    assert np.array_equal(joint.dual_coef_, apart.dual_coef_) and joint.dual_coef_.shape == (1, 45)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_repetitions(seed, offset):
    X, y = problem(seed, n=15)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:3] = 1
    options = {"gamma": 0.5, "fit_intercept": offset, "tol": 1e-13}
    counted = KernelLogisticRegression(**options).fit(X, y, times)
    repeated = KernelLogisticRegression(**options).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    assert counted.verify(X, y, times)["kernel_softmax.distance"].ok


@pytest.mark.parametrize("C", [1e-6, 1e2, 1e5])
@pytest.mark.parametrize("gamma", [0.01, 1e6])  # nearly constant values, and the identity
def test_extreme_prices_and_widths(C, gamma):
    X, y = problem(7)
    model = KernelLogisticRegression(C, gamma=gamma).fit(X, y)
    assert model.certificate_.holds and model.verify(X, y)["kernel_softmax.gap"].ok


def test_duplicate_rows_with_all_labels_and_strings():
    X, y = np.zeros((7, 2)), np.array([0, 1, 1, 2, 2, 2, 2])
    model = KernelLogisticRegression(gamma=1.0, tol=1e-12).fit(X, y)
    assert model.predict_proba(X[:1])[0] == pytest.approx([1 / 7, 2 / 7, 4 / 7], abs=1e-6)
    words, kinds = ["cat", "cart", "dog", "dig", "sun", "sin"], ["c", "c", "d", "d", "s", "s"]
    spoken = KernelLogisticRegression(10.0, kernel=StringSubsequence(2, 0.5)).fit(words, kinds)
    assert spoken.predict(["bat", "dogs", "sung"]).tolist() == ["c", "d", "s"] and spoken.verify(words, kinds)


def test_an_early_stop_has_an_honest_gap():
    X, y = problem(8)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelLogisticRegression(100.0, gamma=2.0, max_iter=1, tol=1e-12).fit(X, y)
    assert model.certificate_.holds is False and model.verify(X, y)["kernel_softmax.gap"].ok
    best = KernelLogisticRegression(100.0, gamma=2.0, tol=1e-12).fit(X, y).objective_
    assert 0 < model.objective_ - best <= model.dual_gap_
    model.set_params(warm_start=True, max_iter=50).fit(X, y)
    assert model.objective_ == pytest.approx(best)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-6, 0.3), st.sampled_from(["dual_coef_", "intercept_"]))
def test_the_checker_bounds_what_was_spoilt_and_no_more(seed, size, name):
    X, y = problem(seed, n=12)
    model = KernelLogisticRegression(2.0, gamma=0.5, tol=1e-12).fit(X, y)
    best, old, now = model.objective_, model.certificate_, getattr(model, name)
    setattr(model, name, now + size * np.random.default_rng(seed).standard_normal(now.shape))

    name = "kernel_softmax.gap"
    model._issue("A", [Claim(name)], problem=old.problem, model=tuple(old.model), sample=(X, y.astype(float), None))
    issued = model.certificate_
    norm = np.einsum("ki,ij,kj->", model.dual_coef_, model.kernel_(X), model.dual_coef_)
    gap = model.verify(X, y)[name].proved
    assert norm / 2 - 2.0 * np.sum(model.predict_log_proba(X)[np.arange(12), y]) - best <= gap * (1 + 1e-9)
    with pytest.raises(CertificateError, match=r"kernel_softmax\.gap"):
        with_claim(issued, name, value=0.9999999 * gap).verify(X, y)


def test_a_worse_model_is_refused():
    X, y = problem(9)
    model = KernelLogisticRegression(tol=1e-10).fit(X, y)
    assert Certificate.from_json(model.certificate_.to_json()).verify(X, y)["kernel_softmax.gap"].ok
    model.dual_coef_ = model.dual_coef_ * 1.01
    old = model.certificate_
    model._issue("A", list(old.claims), problem=old.problem, model=("dual_coef_", "intercept_"), data=old.data)
    with pytest.raises(CertificateError, match=r"kernel_softmax\.gap"):
        model.verify(X, y)


def test_wrong_parameter():
    with pytest.raises(InvalidParameter, match="multi_class"):
        KernelLogisticRegression(multi_class="auto").fit(*problem())


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_both_ways_to_a_newton_step(C, offset):
    X, y = problem(10, n=150)
    K, c, Y = RBF(gamma=0.5)(X), np.full(150, C), np.eye(3)[y]
    rng = np.random.default_rng(10)
    beta = 0.3 * C * rng.standard_normal((150, 3))
    beta -= beta.mean(axis=1, keepdims=True)
    P = softmax(K @ beta, axis=1)
    rest = c[:, None] * (Y - P) - beta
    for exact in (False, True):
        direction, shift, factors = newton_step(K, c, P, rest, beta.sum(axis=0), offset, exact)
        assert factors == exact
        V = K @ direction + shift
        curved = c[:, None] * P * (V - np.sum(P * V, axis=1, keepdims=True))
        assert direction + curved == pytest.approx(rest, abs=1e-6 * C)  # the equation of the step
        if offset:
            assert (beta + direction).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-8 * C)
