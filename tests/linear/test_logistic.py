"""Logistic regression: the numbers of the notes first, independent solvers second, odd input last."""

import signal
import threading
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from surefit import CertificateError, Invalidated, InvalidData, InvalidParameter, LogisticRegression
from surefit.checks.gap import near
from surefit.core.errors import ConvergenceWarning
from surefit.linear.logistic import training
from surefit.linear.logistic.training import FEW_ROWS
from surefit.solvers.newton.few_rows import fit_few_rows

CONTAINERS = [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix]


def problem(seed=0, n=60, d=5, K=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))
    return X, scores.argmax(axis=1)


def objective(model, X, y, C=1.0, l1_ratio=0.0, weights=None):
    F = np.asarray(X @ model.coef_.T) + model.intercept_
    F = np.column_stack([np.zeros(len(F)), F]) if F.shape[1] == 1 else F
    codes = np.searchsorted(model.classes_, y)
    losses = np.log(np.exp(F - F.max(1, keepdims=True)).sum(1)) + F.max(1) - F[np.arange(len(F)), codes]
    w = model.coef_
    loss = losses.sum() if weights is None else losses @ weights
    return C * loss + l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w**2).sum()


# --- the numbers of the notes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lam", "theta", "value"),
    [
        (1.0, 0.67483161, 1.05091415),
        (0.1, 2.12803452, 0.45142447),
        (2.0, 0.401058, 1.186029),
        (0.02, 3.359275, 0.181187),
    ],
)
def test_two_points_without_intercept(lam, theta, value):
    # lambda theta = 2 / (1 + e^theta); lambda/2 |w|^2 + sum log(1 + e^-yf), C = 1 / lambda
    X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    model = LogisticRegression(C=1 / lam, fit_intercept=False, tol=1e-13).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(theta, abs=1e-6)
    assert lam * objective(model, X, y, 1 / lam) == pytest.approx(value, abs=2e-6)


def test_maximum_likelihood_balances_errors_but_does_not_minimize_their_squares():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = LogisticRegression(C=np.inf, tol=1e-14).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(0.908184, abs=1e-6)
    assert model.intercept_[0] == pytest.approx(-1.362276, abs=1e-6)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, [0.203871, 0.388388, 0.611612, 0.796129], atol=1e-6)
    e = y - p
    assert e.sum() == pytest.approx(0, abs=1e-7) and X[:, 0] @ e == pytest.approx(0, abs=1e-7)
    assert -np.log(np.where(y == 1, p, 1 - p)).sum() == pytest.approx(2.347487, abs=1e-6)
    assert e @ e == pytest.approx(0.831264, abs=1e-6)
    other = 1 / (1 + np.exp(-(0.724696 * X[:, 0] - 1.087045)))
    assert (y - other) @ (y - other) == pytest.approx(0.822462, abs=1e-6)  # smaller: the claim of the notes is false
    assert X[:, 0] @ (y - other) == pytest.approx(0.1669, abs=1e-4)


def test_product_signs_have_the_constant_model_as_their_maximum():
    X, y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1, 0, 0, 1])
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-8)
    assert objective(model, X, y) == pytest.approx(4 * np.log(2), rel=1e-12)
    lifted = LogisticRegression(tol=1e-10).fit(np.c_[X, X[:, 0] * X[:, 1]], y)
    assert lifted.score(np.c_[X, X[:, 0] * X[:, 1]], y) == 1.0


def test_predictions_odds_and_ties():
    X, y = problem(1, 50, 2)
    model = LogisticRegression().fit(X, y)
    f, P = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), (f > 0).astype(int))
    np.testing.assert_allclose(np.log(P[:, 1] / P[:, 0]), f, atol=1e-9)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    moved = X + np.array([1.0, 0.0])  # one unit of a feature multiplies the odds by e^w
    factor = np.exp(model.decision_function(moved) - f)
    np.testing.assert_allclose(factor, model.odds(X)["odds_ratios"][0, 0], rtol=1e-9)
    np.testing.assert_allclose(model.odds(X)["standardized"][0], model.coef_[0] * X.std(axis=0), rtol=1e-9)
    model.coef_, model.intercept_ = np.zeros((1, 2)), np.zeros(1)
    assert model.predict(X[:1])[0] == 0  # a tie goes to the first class


def test_far_scores_do_not_overflow():
    X, y = problem(2, 50, 2)
    model = LogisticRegression().fit(X, y)
    P = model.predict_log_proba(np.array([[1e6, 1e6], [-1e6, 1e6]]))
    assert np.isfinite(P).all() and np.isfinite(model.predict_proba(np.full((1, 2), 1e300))).all()


# --- the gap is a bound, and tol means it -----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("max_iter", [1, 2, 100])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_the_distance_at_every_stop(K, l1_ratio, max_iter):
    X, y = problem(3, 60, 8, K)
    best = objective(LogisticRegression(l1_ratio=l1_ratio, tol=1e-12).fit(X, y), X, y, 1.0, l1_ratio)
    model = LogisticRegression(l1_ratio=l1_ratio, tol=1e-13 if max_iter < 100 else 1e-6, max_iter=max_iter).fit(X, y)
    assert objective(model, X, y, 1.0, l1_ratio) - best <= model.dual_gap_ + 1e-9
    verification = model.verify(X, y)
    assert verification.findings[0].proved <= model.dual_gap_ * (1 + 1e-3) + 1e-9


def test_unconverged_says_how_far():
    X, y = problem(4)
    with pytest.warns(ConvergenceWarning, match=r"LogisticRegression: gap .* > .* wanted: max_iter was reached"):
        model = LogisticRegression(max_iter=1, tol=1e-12).fit(X, y)
    assert model.certificate_.holds is False
    model.verify(X, y)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 14), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_agrees_with_an_interior_point_solver(seed, n, d, l1_ratio, intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    t = rng.choice([-1.0, 1.0], n)
    t[:2] = [-1.0, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=2.0, l1_ratio=l1_ratio, fit_intercept=intercept, tol=1e-9).fit(X, t)
    w, b = cp.Variable(d), cp.Variable()
    losses = cp.logistic(-cp.multiply(t, X @ w + (b if intercept else 0)))
    penalty = l1_ratio * cp.norm1(w) + (1 - l1_ratio) / 2 * cp.sum_squares(w)
    best = cp.Problem(cp.Minimize(penalty + 2.0 * cp.sum(losses))).solve(solver=cp.CLARABEL)
    assert objective(model, X, t, 2.0, l1_ratio) <= best + model.dual_gap_ + 1e-5
    model.verify(X, t)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("K", [2, 4])
def test_agrees_with_scikit_learn(container, K):
    X, y = problem(5, 120, 10, K)
    X[np.abs(X) < 0.4] = 0.0
    weights = np.random.default_rng(0).uniform(0.1, 2, 120)
    options = {"C": 0.7, "class_weight": "balanced"}
    ours = LogisticRegression(tol=1e-13, **options).fit(container(X), y, sample_weight=weights)
    other = theirs.LogisticRegression(tol=1e-12, max_iter=10**5, **options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(container(X)), other.predict_proba(X), atol=1e-5)
    ours.verify(container(X), y, sample_weight=weights)


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_l1_agrees_with_scikit_learn_and_marks_features_that_no_solution_uses(l1_ratio):
    X, y = problem(6, 100, 300)
    ours = LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    other = theirs.LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-9, solver="saga", max_iter=20000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    assert not ours.coef_[0, ours.inactive_].any() and ours.inactive_.sum() > 200
    ours.verify(X, y)


@pytest.mark.parametrize("shape", [(40, 400), (300, 30)])
def test_wide_and_tall_and_badly_scaled(shape):
    X, y = problem(7, *shape)
    X = X * np.logspace(-4, 4, shape[1])
    model = LogisticRegression(tol=1e-9).fit(X, y)
    assert model.certificate_.holds
    model.verify(X, y)


def test_breast_cancer_without_scaling_is_solved_to_the_gap():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(C=100.0, tol=1e-8).fit(X, y)
    other = theirs.LogisticRegression(C=100.0, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)
    assert objective(model, X, y, 100.0) == pytest.approx(objective(other, X, y, 100.0), abs=2 * model.dual_gap_)
    model.verify(X, y)


def test_labels_at_risk_cover_the_labels_that_change():
    X, y = problem(8, 200, 5)
    exact = LogisticRegression(tol=1e-13).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        loose = LogisticRegression(tol=1e-3).fit(X, y)
    changed = int(np.sum(loose.predict(X) != exact.predict(X)))
    assert changed <= loose.labels_at_risk_ and exact.labels_at_risk_ <= loose.labels_at_risk_


# --- weights, start, stopping -----------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=20, max_size=20), st.sampled_from([0.0, 1.0]))
def test_a_weight_is_a_repetition(counts, l1_ratio):
    X, y = problem(15, 20, 3)
    counts[:2] = [1, 1]
    y[:2] = [0, 1]
    repeated = np.repeat(np.arange(20), counts)
    weighted = LogisticRegression(l1_ratio=l1_ratio, tol=1e-12).fit(X, y, sample_weight=counts)
    plain = LogisticRegression(l1_ratio=l1_ratio, tol=1e-12).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, plain.intercept_, atol=1e-5)


def test_many_rows_start_from_few():
    X, y = problem(16, 30_000, 4)
    model = LogisticRegression(tol=1e-8).fit(X, y)
    other = theirs.LogisticRegression(tol=1e-9, max_iter=1000).fit(X, y)
    assert objective(model, X, y) <= objective(other, X, y) * (1 + 1e-8)
    model.verify(X, y)


@pytest.mark.parametrize("n", [60, FEW_ROWS, FEW_ROWS + 1])
def test_compiled_steps_of_few_rows_reach_the_optimum_of_the_general_solver(n, monkeypatch):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 5)) * [1.0, 10.0, 0.1, 1.0, 1.0] + [0.0, 0.0, 0.0, 50.0, 0.0]
    y = (X[:, 0] + rng.standard_normal(n) > 0.3).astype(int)
    weights = rng.integers(0, 3, n).astype(float)
    taken = []
    monkeypatch.setattr(training, "fit_few_rows", lambda *args: taken.append(fit_few_rows(*args)) or taken[-1])
    model = LogisticRegression(tol=1e-10).fit(X, y, weights)
    assert len(taken) == (n <= FEW_ROWS) and model.n_iter_[0] > 1
    with threadpool_limits(2):
        again = LogisticRegression(tol=1e-10).fit(X, y, weights)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    monkeypatch.setattr(training, "fit_few_rows", lambda *args: None)
    other = LogisticRegression(tol=1e-10).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-5)
    assert model.verify(X, y, weights)["linear.gap"].proved <= 1e-10 * len(X)
    model.coef_[0, 0] += 1e-3
    with pytest.raises(Invalidated):
        model.verify(X, y, weights)


def test_warm_start_goes_on_where_it_stopped():
    X, y = problem(17, 100, 20)
    model = LogisticRegression(tol=1e-10, max_iter=2, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gaps = [model.fit(X, y).dual_gap_ for _ in range(5)]
    assert gaps[-1] < 1e-3 * gaps[0]


def test_max_time_and_ctrl_c_return_usable_models():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 1200))
    y = (X[:, :20].sum(axis=1) + rng.standard_normal(4000) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = LogisticRegression(C=1e4, tol=1e-14, max_time=0.2, max_iter=10**6).fit(X, y)
    model.verify(X, y)
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.warns(ConvergenceWarning, match="interrupted by Ctrl-C"):
        LogisticRegression(C=1e6, tol=0.0, max_iter=10**6).fit(X, y).verify(X, y)


# --- names, odd and bad input -----------------------------------------------------------------------------------------


def test_labels_and_columns_of_any_kind():
    X, y = problem(18, 40, 2)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    named = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(frame, named)
    assert model.classes_.tolist() == ["no", "yes"] and set(model.predict(frame)) <= {"no", "yes"}
    model.verify(frame, named)
    free = LogisticRegression(C=np.inf).fit(frame, named)
    assert free.inference(frame, named).names == ["intercept", "height", "weight"]


@pytest.mark.parametrize(("penalty", "same"), [("l1", {"l1_ratio": 1.0}), ("l2", {}), (None, {"C": np.inf})])
def test_the_old_words_for_the_penalty_are_understood(penalty, same):
    X, y = problem(19, 150, 3)
    y[:30] = 1 - y[:30]
    with pytest.warns(FutureWarning, match="'penalty' is deprecated"):
        old = LogisticRegression(penalty=penalty, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(old.coef_, LogisticRegression(tol=1e-10, **same).fit(X, y).coef_)


@pytest.mark.parametrize(
    "params", [{"C": 0.0}, {"C": -1.0}, {"l1_ratio": 2.0}, {"tol": -1}, {"max_iter": 0}, {"solver": "magic"}], ids=str
)
def test_bad_parameters(params):
    with pytest.raises(InvalidParameter, match=f"LogisticRegression: {next(iter(params))} must be"):
        LogisticRegression(**params).fit([[0.0], [1.0]], [0, 1])


def test_bad_data():
    with pytest.raises(InvalidData, match="y has one class only"):
        LogisticRegression().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(InvalidData, match=r"class 1 has no row of positive weight"):
        LogisticRegression().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 0])
    with pytest.raises(InvalidData, match="X contains NaN at row 1, column 0"):
        LogisticRegression().fit([[0.0], [np.nan]], [0, 1])


def test_a_constant_column_and_float32():
    X, y = problem(20, 50, 3)
    X[:, 1] = 5.0
    model = LogisticRegression(tol=1e-10).fit(X, y)
    assert model.coef_[0, 1] == pytest.approx(0, abs=1e-6)
    small = LogisticRegression(tol=1e-8).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(small.coef_, model.coef_, atol=1e-3)
    small.verify(X.astype(np.float32), y)


def test_tampering_is_noticed_and_forgery_is_caught_by_arithmetic():
    X, y = problem(21, 60, 4)
    model = LogisticRegression(tol=1e-8).fit(X, y)
    model.coef_[0, 0] *= 1.0001
    with pytest.raises(Invalidated, match="coef_ was changed"):
        model.verify(X, y)
    model = LogisticRegression(tol=0.3).fit(X, y)
    assert model.certificate_.claims  # proved when it is first read
    object.__setattr__(model._certificate.claims[0], "value", 1e-9)
    object.__setattr__(model._certificate, "seal", model._certificate._digest())
    with pytest.raises(CertificateError, match=r"claim 'linear\.gap' does not hold"):
        model.verify(X, y)


def test_smaller_gaps_are_refused_where_the_terms_of_single_rows_prove(monkeypatch):
    X, y = problem(22, 400, 6)
    model = LogisticRegression(C=0.05, l1_ratio=1.0, tol=0.1, max_iter=2).fit(X, y)
    claim, found = model.certificate_.claims[0], []
    terms = near.Near.terms_by_rows
    monkeypatch.setattr(near.Near, "terms_by_rows", lambda *given: found.append(terms(*given)) or found[-1])
    model.verify(X, y)
    assert found and found[0] is not None
    object.__setattr__(claim, "value", claim.value * 0.98)
    object.__setattr__(model._certificate, "seal", model._certificate._digest())
    with pytest.raises(CertificateError, match=r"claim 'linear\.gap' does not hold"):
        model.verify(X, y)
