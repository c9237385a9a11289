"""Linear support vector machines: worked numbers, the same model as kernel machines, independent solvers, odd input."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import svm as theirs
from sklearn.datasets import load_iris

from surefit import CertificateError, InvalidData, InvalidParameter, LinearSVC, LinearSVR
from surefit.core.errors import ConvergenceWarning

CONTAINERS = [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]


def problem(seed=0, n=80, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0.3, 1, -1)


def objective(model, X, y, C=1.0, loss="hinge", weights=None, l1=False):
    w = model.coef_.ravel()
    slack = np.maximum(1 - y * (np.asarray(X @ w).ravel() + model.intercept_), 0)
    slack = slack**2 if loss == "squared_hinge" else slack
    return (np.abs(w).sum() if l1 else w @ w / 2) + C * (slack.sum() if weights is None else slack @ weights)


# --- worked numbers ---------------------------------------------------------------------------------------------------


def test_two_points_have_the_widest_margin_from_a_finite_C_on():
    # hard margin: w = 1, b = -2, both multipliers 1/2; the soft margin gives the same from C = 1/2 on
    for C, w in ((0.5, 1.0), (10.0, 1.0), (0.25, 0.5)):
        model = LinearSVC(C=C, tol=1e-10).fit([[1.0], [3.0]], [-1, 1])
        assert model.coef_[0, 0] == pytest.approx(w, abs=1e-4)
        assert model.margin_[0] == pytest.approx(1 / w, abs=1e-3)


def test_the_two_scalings_of_the_objective_differ_by_a_factor():
    X, y = problem(1)
    model = LinearSVC(C=0.3, tol=1e-8).fit(X, y)
    w, lam = model.coef_[0], 1 / (2 * 80 * 0.3)
    mean_form = np.mean(np.maximum(1 - y * model.decision_function(X), 0)) + lam * w @ w
    assert 80 * 0.3 * mean_form == pytest.approx(objective(model, X, y, 0.3), rel=1e-12)


def test_training_errors_are_at_most_the_sum_of_slacks():
    X, y = problem(2)
    model = LinearSVC().fit(X, y)
    slacks = np.maximum(1 - y * model.decision_function(X), 0)
    assert np.sum(model.predict(X) != y) <= slacks.sum()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_tolerance_is_relative_to_the_best_constant_before_smoothing(C):
    rng = np.random.default_rng(110)
    X = rng.standard_normal((100, 10))
    z = X @ rng.standard_normal(10) / 3
    y = np.where(z + 0.5 * rng.standard_normal(100) > 0.3, 1, -1)
    for model, target in ((LinearSVC(C=C), y), (LinearSVR(C=C, epsilon=0.1), z + rng.exponential(size=100))):
        assert model.fit(X, target).certificate_.holds


def test_tube_around_a_line():
    # y = 2x + 1 on 0..4, epsilon = 1/2: the flattest line in the tube has slope 2 - 2 epsilon / 4
    X = np.arange(5.0)[:, None]
    model = LinearSVR(C=100.0, epsilon=0.5, tol=1e-9).fit(X, 2 * X[:, 0] + 1)
    assert model.coef_[0] == pytest.approx(1.75, abs=1e-4) and model.intercept_ == pytest.approx(1.5, abs=1e-4)


def test_absolute_loss_without_features_is_the_median():
    y = np.array([1.0, 2.0, 3.0, 10.0, 100.0])
    model = LinearSVR(C=1.0, tol=1e-8).fit(np.zeros((5, 1)), y)
    assert model.intercept_ == pytest.approx(3.0, abs=1e-3) and model.coef_[0] == 0.0


# --- the gap is a bound -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_iter", [1, 3, 1000])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_the_distance_at_every_stop(max_iter, loss):
    X, y = problem(3)
    best = objective(LinearSVC(loss=loss, tol=1e-9).fit(X, y), X, y, loss=loss)
    model = LinearSVC(loss=loss, tol=1e-12 if max_iter < 10 else 1e-4, max_iter=max_iter).fit(X, y)
    assert objective(model, X, y, loss=loss) - best <= model.dual_gap_ + 1e-9
    model.verify(X, y)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(4, 12),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["hinge", "squared_hinge"]),
)
def test_agrees_with_an_interior_point_solver(seed, n, d, intercept, loss):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    y[:2] = [-1.0, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(loss=loss, fit_intercept=intercept, tol=1e-7).fit(X, y)
    w, b = cp.Variable(d), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, X @ w + (b if intercept else 0)))
    fit = cp.sum(cp.square(slack) if loss == "squared_hinge" else slack)
    best = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + fit)).solve(solver=cp.CLARABEL)
    assert objective(model, X, y, loss=loss) <= best + model.dual_gap_ + 1e-5
    assert objective(model, X, y, loss=loss) >= best - 1e-5
    model.verify(X, y)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_is_the_kernel_machine_with_a_linear_kernel(container, C):
    X, y = problem(4, 150, 6)
    X[np.abs(X) < 0.3] = 0.0
    weights = np.random.default_rng(0).uniform(0.5, 2, 150)
    ours = LinearSVC(C=C, tol=1e-8).fit(container(X), y, sample_weight=weights)
    other = theirs.SVC(kernel="linear", C=C, tol=1e-9).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-3)
    assert objective(ours, X, y, C, weights=weights) <= objective(other, X, y, C, weights=weights) + ours.dual_gap_
    ours.verify(container(X), y, sample_weight=weights)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_is_the_kernel_machine_too(epsilon):
    X, _ = problem(5, 150, 6)
    y = X @ np.arange(6) + np.random.default_rng(0).standard_normal(150)
    ours = LinearSVR(epsilon=epsilon, tol=1e-8).fit(X, y)
    other = theirs.SVR(kernel="linear", epsilon=epsilon, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_[0], atol=2e-3)
    ours.verify(X, y)


def test_squared_losses_agree_with_scikit_learn_without_intercept():
    X, y = problem(6, 100, 5)
    ours = LinearSVC(loss="squared_hinge", fit_intercept=False, tol=1e-12).fit(X, y)
    other = theirs.LinearSVC(fit_intercept=False, tol=1e-10, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
    target = X @ np.arange(5.0) + 0.1 * y
    ours = LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, fit_intercept=False, tol=1e-12).fit(X, target)
    other = theirs.LinearSVR(
        loss="squared_epsilon_insensitive", epsilon=0.1, fit_intercept=False, tol=1e-10, max_iter=10**5, dual=False
    ).fit(X, target)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
    ours.verify(X, target)


def test_l1_penalty():
    X, y = problem(7, 60, 40)
    model = LinearSVC(penalty="l1", loss="squared_hinge", C=0.2, tol=1e-6).fit(X, y)
    w, b = cp.Variable(40), cp.Variable()
    fit = cp.sum(cp.square(cp.pos(1 - cp.multiply(y, X @ w + b))))
    best = cp.Problem(cp.Minimize(cp.norm1(w) + 0.2 * fit)).solve(solver=cp.CLARABEL)
    assert best - 1e-5 <= objective(model, X, y, 0.2, "squared_hinge", l1=True) <= best + model.dual_gap_ + 1e-5
    assert np.count_nonzero(model.coef_) < 40
    model.verify(X, y)
    with pytest.raises(InvalidParameter, match="loss must be 'squared_hinge' with penalty='l1'"):
        LinearSVC(penalty="l1").fit(X, y)


def test_primal_and_dual_shapes_give_the_same_model():
    for n, d in ((40, 300), (3000, 4)):
        X, y = problem(8, n, d)
        dense, thin = LinearSVC(tol=1e-7).fit(X, y), LinearSVC(tol=1e-7).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(X), atol=5e-2)
        assert objective(dense, X, y) == pytest.approx(objective(thin, X, y), abs=2 * dense.dual_gap_ + 1e-9)


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(tol=1e-6).fit(X, y)
    single = LinearSVC(tol=1e-6).fit(X, (y == 1).astype(int))
    np.testing.assert_allclose(model.coef_[1], single.coef_[0], atol=1e-6)
    assert model.coef_.shape == (3, 4) and model.score(X, y) > 0.9
    model.verify(X, y)


# --- weights, start, stopping, odd input ------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=20, max_size=20))
def test_a_weight_is_a_repetition(counts):
    X, y = problem(9, 20, 3)
    counts[:2] = [1, 1]
    y[:2] = [-1, 1]
    repeated = np.repeat(np.arange(20), counts)
    weighted = LinearSVC(tol=1e-6).fit(X, y, sample_weight=counts)
    plain = LinearSVC(tol=1e-6).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-3)
    target = X[:, 0] + y
    weighted = LinearSVR(tol=1e-6).fit(X, target, sample_weight=counts)
    np.testing.assert_allclose(weighted.coef_, LinearSVR(tol=1e-6).fit(X[repeated], target[repeated]).coef_, atol=1e-3)


def test_data_far_from_the_origin():
    X, y = problem(10, 100, 3)
    near, far = LinearSVC(tol=1e-6).fit(X, y), LinearSVC(tol=1e-6).fit(X + 1e4, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-2)
    far.verify(X + 1e4, y)


def test_warm_start_and_budget():
    X, y = problem(11, 200, 10)
    model = LinearSVC(tol=1e-7, max_iter=5, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        first = model.fit(X, y).dual_gap_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert model.fit(X, y).dual_gap_ <= first
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        LinearSVC(tol=0.0, max_time=1e-3).fit(X, y).verify(X, y)


def test_constant_target_and_bad_input():
    flat = LinearSVR().fit(np.eye(3), np.full(3, 5.0))
    assert not flat.coef_.any() and flat.intercept_ == 5.0 and flat.dual_gap_ <= 1e-12
    flat.verify(np.eye(3), np.full(3, 5.0))
    with pytest.raises(InvalidData, match="LinearSVC: y has one class only"):
        LinearSVC().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(InvalidParameter, match=r"LinearSVC: multi_class must be one of 'ovr'; got 'crammer_singer'"):
        LinearSVC(multi_class="crammer_singer").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidData, match="squares of y overflow"):
        LinearSVR().fit(np.eye(3), [1e300, 0.0, 1.0])


def test_a_forged_gap_is_caught_by_arithmetic():
    X, y = problem(12)
    model = LinearSVC(tol=0.1).fit(X, y)
    assert model.certificate_.claims  # proved when it is first read
    object.__setattr__(model._certificate.claims[0], "value", 1e-9)
    object.__setattr__(model._certificate, "seal", model._certificate._digest())
    with pytest.raises(CertificateError, match=r"claim 'linear\.gap' does not hold"):
        model.verify(X, y)
