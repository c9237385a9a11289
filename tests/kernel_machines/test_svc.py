"""Support vector classification: worked numbers, identities, an independent solver, scikit-learn, and the certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import svm as theirs
from sklearn.datasets import load_iris
from tests.forging import with_claim

from surefit import SVC, CertificateError, Invalidated, InvalidData, InvalidParameter, LinearSVC
from surefit.bounds import stable_compression
from surefit.core.errors import ConvergenceWarning
from surefit.kernels import RBF, Linear, Polynomial

XOR = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])
LINE = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([-1, -1, 1, 1])


def problem(seed=0, n=60, d=3, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] * X[:, 1] + noise * rng.standard_normal(n) > 0, 1, -1)


def linear(C, **options):
    return SVC(kernel="linear", C=C, tol=1e-12, **options)


def oracle(K, y, C, weights=None, intercept=True):
    c = C * (np.ones(len(y)) if weights is None else weights)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    w, b = cp.Variable(len(y)), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, root @ w + (b if intercept else 0.0)))
    goal = cp.Minimize(cp.sum_squares(w) / 2 + c @ slack)
    return cp.Problem(goal).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)


# --- worked numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.125, 1.0, 1e4, np.inf])
def test_exclusive_or_by_the_quadratic_kernel(C):
    model = SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), C=C, tol=1e-12).fit(*XOR)
    assert np.abs(model.dual_coef_) == pytest.approx(np.full((1, 4), 1 / 8), abs=1e-12)
    points = np.array([[0.3, 0.5], [-2.0, 0.1]])
    assert model.decision_function(points) == pytest.approx(-points[:, 0] * points[:, 1], abs=1e-12)
    assert model.objective_ == pytest.approx(0.25) and model.margin_ == pytest.approx([np.sqrt(2)])
    assert model.intercept_ == pytest.approx([0.0], abs=1e-12)


def test_offset_of_exclusive_or_is_free_for_small_C():
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=0.05, tol=1e-12).fit(*XOR)
    assert model.intercept_interval_ == pytest.approx(np.array([[-0.6, 0.6]]))
    assert model.objective_ == pytest.approx(4 * 0.05 - 16 * 0.05**2)
    assert len(model.bound_support_) == 4 and len(model.free_support_) == 0


@pytest.mark.parametrize("low, high", [(1.0, 3.0), (0.2, 5.0)])
def test_two_points_on_a_line(low, high):
    model = linear(np.inf).fit([[low], [high]], [-1, 1])
    assert model.coef_ == pytest.approx(np.array([[2 / (high - low)]]))
    assert model.intercept_ == pytest.approx([-(high + low) / (high - low)])
    assert np.abs(model.dual_coef_) == pytest.approx(np.full((1, 2), 2 / (high - low) ** 2))


def test_two_points_without_offset_cannot_be_separated():
    with pytest.raises(InvalidData, match="not separable"):
        linear(np.inf, fit_intercept=False).fit([[1.0], [3.0]], [-1, 1])


def test_offset_is_not_a_constant_feature():
    X, y = np.array([[3.0, 0.0], [0.0, 1.0]]), [1, -1]
    model = linear(np.inf).fit(X, y)
    assert model.coef_ == pytest.approx(np.array([[0.6, -0.2]])) and model.intercept_ == pytest.approx([-0.8])
    assert model.margin_ == pytest.approx([np.sqrt(10) / 2])
    augmented = linear(np.inf, fit_intercept=False).fit(np.column_stack([X, np.ones(2)]), y)
    assert augmented.coef_ == pytest.approx(np.array([[0.473684, -0.578947, -0.421053]]), abs=1e-6)


@pytest.mark.parametrize(
    "C, alpha, w, value",
    [
        (0.1, (0.04, 0.1, 0.1, 0.04), 0.4, 0.20),
        (0.2, (0.0, 0.2, 0.2, 0.0), 0.4, 0.32),
        (0.3, (0.0, 0.3, 0.3, 0.0), 0.6, 0.42),
        (0.5, (0.0, 0.5, 0.5, 0.0), 1.0, 0.5),
        (np.inf, (0.0, 0.5, 0.5, 0.0), 1.0, 0.5),
    ],
)
def test_four_points_on_a_line(C, alpha, w, value):
    model = linear(C).fit(*LINE)
    alphas = np.zeros(4)
    alphas[model.support_] = np.abs(model.dual_coef_[0])
    assert alphas == pytest.approx(alpha, abs=1e-9)
    assert model.coef_[0, 0] == pytest.approx(w) and model.objective_ == pytest.approx(value)
    if C == 0.3:
        assert model.intercept_interval_ == pytest.approx(np.array([[-1.6, -1.0]]))
    if np.isinf(C):
        assert model.intercept_ == pytest.approx([-2.0])


@pytest.mark.parametrize("C", [0.1, 1.0, 4.0, 5.0, 8.0, 10.0, 20.0])
def test_four_points_in_the_plane_for_every_C(C):
    eps, kappa = 0.5, 0.2
    X = np.array([[0.0, 0.0], [0.0, eps], [1.0, eps], [1.0, 0.0]])
    model = linear(C).fit(X, [1, 1, 1, -1])
    scale = min(C, 10.0)
    assert model.coef_ == pytest.approx(scale * eps / (1 + eps**2) * np.array([[-eps, 1.0]]), abs=1e-7)
    assert model.intercept_ == pytest.approx([1.0], abs=1e-7)
    assert model.objective_ == pytest.approx(2 * C - C**2 * kappa / 2 if C <= 10 else 10.0)
    assert (model.slack_[3] > 1 + 1e-9) == (C < 5)


def test_rows_on_the_margin_need_no_multiplier():
    # two optimal dual vectors: (1/2, 0, 0 | 1/2) and (0, 1/4, 1/4 | 1/2); all four rows lie on the margin
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]]), np.array([1, 1, 1, -1])
    model = linear(np.inf).fit(X, y)
    assert model.on_margin_.tolist() == [0, 1, 2, 3]
    assert model.coef_ == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-9)
    assert np.sum(np.abs(model.dual_coef_)) == pytest.approx(1.0)


def test_leave_one_out_bound_is_reached():
    X, y = np.array([[0.0, 0.0], [0.0, 0.5], [1.0, 0.5], [1.0, 0.0]]), np.array([1, 1, 1, -1])
    model = linear(np.inf).fit(X, y)
    assert model.support_.tolist() == [3, 0, 2] and model.loo_error_bound_ == 0.75
    errors = 1  # without row 3 one class is left, which predicts its own
    for i in range(3):
        rest = np.delete(np.arange(4), i)
        errors += int(linear(np.inf).fit(X[rest], y[rest]).predict(X[[i]])[0] != y[i])
    assert errors / 4 == model.loo_error_bound_


def test_rows_without_weight_in_the_dual_can_go():
    X, y = problem(1)
    model = SVC(tol=1e-12, gamma=0.5).fit(X, y)
    again = SVC(tol=1e-12, gamma=0.5).fit(X[np.sort(model.support_)], y[np.sort(model.support_)])
    assert again.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-6)


# --- identities -------------------------------------------------------------------------------------------------------


def test_gap_is_the_sum_of_what_rows_contribute():
    X, y = problem(2)
    model = SVC(gamma=0.5, tol=0.1).fit(X, y)
    K, beta = RBF(gamma=0.5)(X), np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    norm = beta @ K @ beta
    primal = norm / 2 + np.maximum(1 - y * model.decision_function(X), 0).sum()
    assert model.objective_ == pytest.approx(primal)
    assert model.sample_gap_.sum() == pytest.approx(primal - (np.abs(beta).sum() - norm / 2), abs=1e-10)
    assert model.rkhs_norm_[0] ** 2 == pytest.approx(norm)


def test_taxonomy_follows_the_slacks():
    X, y = problem(3)
    model = SVC(gamma=0.5, tol=1e-12).fit(X, y)
    margins = y * model.decision_function(X)
    wrong = model.points_ == "misclassified"
    assert np.array_equal(wrong, margins < 0) and set(np.flatnonzero(wrong)) <= set(model.bound_support_)
    assert np.all(model.slack_[model.points_ == "outside"] == 0)
    assert set(model.free_support_) <= set(model.on_margin_)
    assert wrong.sum() <= model.slack_.sum()


def test_linear_kernel_is_the_linear_machine():
    X, y = problem(4)
    kernel = SVC(kernel="linear", tol=1e-12).fit(X, y)
    weights = LinearSVC(tol=1e-9).fit(X, y)
    assert weights.coef_ == pytest.approx(kernel.coef_, abs=1e-3)
    value = np.sum(weights.coef_**2) / 2 + np.maximum(1 - y * weights.decision_function(X), 0).sum()
    assert kernel.objective_ <= value + 1e-9 and value - kernel.objective_ <= weights.dual_gap_ + 1e-9
    assert X @ kernel.coef_[0] + kernel.intercept_ == pytest.approx(kernel.decision_function(X))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_repetitions(seed, intercept):
    rng = np.random.default_rng(seed)
    X, y = problem(seed, n=14)
    times = rng.integers(0, 3, len(y))
    times[np.argmax(y)] = times[np.argmin(y)] = 1
    weighted = SVC(tol=1e-12, fit_intercept=intercept).fit(X, y, sample_weight=times)
    repeated = SVC(tol=1e-12, fit_intercept=intercept).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    assert weighted.rkhs_norm_ == pytest.approx(repeated.rkhs_norm_, rel=1e-6)


def test_class_weights_are_factors_of_C():
    X, y = problem(5)
    by_class = SVC(gamma=0.5, class_weight={1: 3.0}, tol=1e-12).fit(X, y)
    by_row = SVC(gamma=0.5, tol=1e-12).fit(X, y, sample_weight=np.where(y > 0, 3.0, 1.0))
    assert by_class.dual_coef_ == pytest.approx(by_row.dual_coef_, abs=1e-9)
    assert by_class.certificate_.verify(X, y)["svc.gap"].ok


# --- independent solvers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed, C, intercept", [(0, 0.01, True), (1, 1.0, True), (2, 100.0, True), (3, 1.0, False)])
def test_against_an_interior_point_solver(seed, C, intercept):
    X, y = problem(seed, n=40)
    s = np.random.default_rng(seed).uniform(0.5, 2.0, 40)
    model = SVC(gamma=0.7, C=C, fit_intercept=intercept, tol=1e-11).fit(X, y, sample_weight=s)
    assert model.objective_ == pytest.approx(oracle(RBF(gamma=0.7)(X), y, C, s, intercept), rel=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_layout_and_numbers_of_scikit_learn(kernel):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    ours = SVC(kernel=kernel, tol=1e-10, gamma=0.05).fit(X, y)
    peer = theirs.SVC(kernel=kernel, tol=1e-7, gamma=0.05).fit(X, y)
    assert ours.dual_coef_.shape[0] == peer.dual_coef_.shape[0] == 2
    assert ours.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-4)
    assert np.array_equal(ours.predict(X), peer.predict(X))
    if kernel == "rbf":
        assert np.array_equal(ours.support_, peer.support_) and np.array_equal(ours.n_support_, peer.n_support_)
        assert ours.dual_coef_ == pytest.approx(peer.dual_coef_, abs=1e-4)
    pairs = SVC(kernel=kernel, tol=1e-10, gamma=0.05, decision_function_shape="ovo").fit(X, y).decision_function(X)
    peer_pairs = theirs.SVC(kernel=kernel, tol=1e-7, gamma=0.05, decision_function_shape="ovo").fit(X, y)
    assert pairs == pytest.approx(peer_pairs.decision_function(X), abs=1e-4)


def test_objective_is_not_above_that_of_libsvm():
    X, y = problem(6, n=300)
    peer = theirs.SVC(gamma=0.5, C=10.0, tol=1e-6).fit(X, y)
    norm = peer.dual_coef_ @ RBF(gamma=0.5)(peer.support_vectors_) @ peer.dual_coef_.T
    value = float(norm.item()) / 2 + 10 * np.maximum(1 - y * peer.decision_function(X), 0).sum()
    model = SVC(gamma=0.5, C=10.0, tol=1e-10).fit(X, y)
    assert model.objective_ <= value + 1e-9 and model.objective_ == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
def test_several_classes_are_proved_problem_by_problem(strategy):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SVC(multi_class=strategy, tol=1e-8).fit(X, names)
    found = model.verify(X, names)["svc.gap"]
    assert found.level == "enclosed" and found.proved <= 1e-7 * model.objective_
    assert model.score(X, names) >= 0.95 and model.intercept_.shape == (3,)
    assert model.slack_.shape == (3, 150)


# --- kinds of samples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse_and_precomputed_are_the_same_model(kernel):
    X, y = problem(7)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = SVC(kernel=kernel, gamma=0.5, tol=1e-12).fit(X, y)
    for container in (sparse.csr_array, sparse.csc_array):
        model = SVC(kernel=kernel, gamma=0.5, tol=1e-12).fit(container(X), y)
        assert model.decision_function(container(X)) == pytest.approx(dense.decision_function(X), abs=1e-6)
        assert model.verify(container(X), y)["svc.gap"].ok
    K = dense.kernel_(X)
    given_values = SVC(kernel="precomputed", tol=1e-12).fit(K, y)
    assert given_values.decision_function(K) == pytest.approx(dense.decision_function(X), abs=1e-6)
    assert given_values.certificate_["svc.gap"].assumptions == ("kernel_positive_semidefinite",)
    assert given_values.verify(K, y)["svc.gap"].ok


def test_a_function_is_a_kernel():
    X, y = np.array([[1.0], [3.0], [5.0], [6.0]]), [1, 0, 1, 0]
    model = SVC(kernel=lambda A, B: np.minimum(A, B.T), C=np.inf, tol=1e-10).fit(X, y)
    assert model.score(X, y) == 1.0 and model.verify(X, y)["svc.gap"].ok


def test_strings():
    from surefit.kernels import StringSubsequence

    words, y = ["cat", "car", "cart", "dog", "dot", "dock"], [0, 0, 0, 1, 1, 1]
    model = SVC(kernel=StringSubsequence(length=2), C=10.0, tol=1e-8).fit(words, y)
    assert model.predict(["cats", "dots"]).tolist() == [0, 1]
    assert model.verify(words, y)["svc.gap"].ok


# --- certificate ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_compression_is_about_the_support_of_the_optimum_and_not_of_an_unfinished_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    best = SVC(kernel="linear", tol=1e-10).fit(X, y)
    claim = best.certificate_["svc.compression"]
    sizes = range(len(best.support_), 120)
    assert claim.numbers["support"] >= len(best.support_) and claim.value < 1
    assert any(claim.value == pytest.approx(stable_compression(size, 120).value, rel=1e-11) for size in sizes)
    early = SVC(kernel="linear", max_iter=1).fit(X, y)
    assert len(early.support_) < len(best.support_)  # their number says nothing about the optimum
    assert early.certificate_["svc.compression"].value == 1.0
    few = {**claim.numbers, "support": float(len(early.support_))}
    forged = with_claim(early.certificate_, "svc.compression", value=0.2, numbers=few).of(early)
    with pytest.raises(CertificateError, match=r"svc\.compression"):
        forged.verify(X, y)


def test_compression_counts_rows_once_and_needs_a_fixed_problem():
    X, y = problem(8)
    names = [
        [claim.name for claim in model.certificate_.claims]
        for model in (
            SVC(gamma=0.5).fit(X, y),
            SVC(gamma=0.5).fit(
                X, y, sample_weight=np.arange(len(y)) % 2
            ),  # rows that were left out are not support vectors
            SVC(gamma=0.5, budget=3.0).fit(X, y),  # C comes from the rows
            SVC().fit(X, y),
        )
    ]
    assert ["svc.compression" in found for found in names] == [True, False, False, False]


def test_certificate_is_enclosed_and_refuses_other_models():
    X, y = problem(8)
    model = SVC(gamma=0.5, C=1e4, tol=1e-9).fit(X, y)
    found = model.verify(X, y)
    assert found["svc.gap"].level == "enclosed" and found["svc.gap"].proved <= 1e-8 * model.objective_
    assert found["svc.compression"].ok and model.certificate_["svc.loo"].kind == "estimate"
    best = SVC(gamma=0.5, C=1e4, tol=1e-11).fit(X, y)
    assert model.objective_ - best.objective_ <= found["svc.gap"].proved
    model.intercept_ = model.intercept_ + 0.1
    with pytest.raises(Invalidated):
        model.verify(X, y)


def test_a_false_gap_is_refused():
    from dataclasses import replace

    X, y = problem(9)
    certificate = SVC(gamma=0.5, tol=0.3).fit(X, y).certificate_
    rough = certificate["svc.gap"].value
    assert rough >= 0.0
    shifted = {**certificate.model, "intercept_": certificate.model["intercept_"] + 0.5}
    with pytest.raises(CertificateError, match=r"svc\.gap"):
        replace(certificate, model=shifted, seal="", subject=None).verify(X, y)
    outside = {**certificate.model, "dual_coef_": certificate.model["dual_coef_"] * 1.01}
    with pytest.raises(CertificateError, match=r"svc\.gap"):
        replace(certificate, model=outside, seal="", subject=None).verify(X, y)


def test_distance_to_the_optimum_is_bounded():
    X, y = problem(10, n=600)
    rough, fine = SVC(gamma=0.5, tol=0.05).fit(X, y), SVC(gamma=0.5, tol=1e-12).fit(X, y)
    a, b = np.zeros(600), np.zeros(600)
    a[rough.support_], b[fine.support_] = rough.dual_coef_[0], fine.dual_coef_[0]
    distance = np.sqrt((a - b) @ RBF(gamma=0.5)(X) @ (a - b))
    assert 0 < distance <= rough.certificate_["svc.distance"].value


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_hard_margin_is_proved(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    y = np.sign(X[:, 0] + 0.1)
    X[:, 0] += 0.3 * y
    model = SVC(kernel=kernel, C=np.inf, tol=1e-9, gamma=0.2).fit(X, y)
    assert np.min(y * model.decision_function(X)) >= 1 - 1e-9
    assert model.verify(X, y)["svc.gap"].proved <= 1e-8
    assert np.abs(model.dual_coef_).sum() == pytest.approx(model.rkhs_norm_[0] ** 2, rel=1e-6)
    soft = SVC(kernel=kernel, C=1.01 * np.abs(model.dual_coef_).max(), tol=1e-10, gamma=0.2).fit(X, y)
    assert soft.objective_ == pytest.approx(model.objective_, rel=1e-6)


# --- odd input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hard_cases_end_with_an_honest_gap(C):
    X, y = problem(11)
    cases = {
        "twins with both labels": (np.vstack([X, X]), np.concatenate([y, -y]), RBF(gamma=1.0)),
        "constant kernel": (np.zeros_like(X), y, RBF(gamma=1.0)),
        "identity": (X, y, RBF(gamma=1e6)),
        "huge features": (X * 1e8, y, Linear()),
        "tiny features": (X * 1e-8, y, Linear()),
    }
    for name, (Z, t, kernel) in cases.items():
        model = SVC(kernel=kernel, C=C, max_time=20.0).fit(Z, t)
        proved = model.verify(Z, t)["svc.gap"].proved
        assert np.isfinite(proved), name
        assert model.certificate_.run["reason"] != "max_time", name


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_a_kernel_that_is_none_gives_no_optimum():
    X, y = problem(12)
    model = SVC(kernel="sigmoid", gamma=1.0, C=10.0, max_time=20.0).fit(X, y)
    assert model.certificate_.grade == "B" and model.certificate_.claims[0].name == "svc.stationarity"
    assert model.verify(X, y)["svc.stationarity"].ok


def test_hard_margin_errors_name_the_reason():
    with pytest.raises(InvalidData, match="rows 0 and 1 are equal and have different labels"):
        SVC(C=np.inf).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    with pytest.raises(InvalidData, match="not separable"):
        linear(np.inf).fit([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])


def test_time_and_steps_end_a_fit_with_its_gap():
    X, y = problem(13, n=900)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        early = SVC(C=1e3, tol=1e-12, max_time=1e-9).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        model = SVC(C=1e3, tol=1e-12, max_iter=50).fit(X, y)
    assert early.dual_gap_ > 0 and model.verify(X, y)["svc.gap"].ok and model.n_iter_.tolist() == [50]


def test_warm_start_continues():
    X, y = problem(14, n=700)
    model = SVC(C=1.0, warm_start=True, tol=1e-6, gamma=0.5).fit(X, y)
    first = int(model.n_iter_[0])
    model.fit(X, y)
    assert model.n_iter_[0] <= first // 10 and model.dual_gap_ <= 1e-6 * model.objective_


def test_clear_errors():
    X, y = problem()
    with pytest.raises(InvalidData, match="one class only"):
        SVC().fit(X, np.ones(len(y)))
    with pytest.raises(InvalidParameter, match="C must be a finite number > 0"):
        SVC(C=0.0).fit(X, y)
    with pytest.raises(InvalidParameter, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(InvalidData, match="square matrix"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(AttributeError, match="linear kernel"):
        SVC().fit(X, y).coef_  # noqa: B018


def test_warm_start_along_gamma_reaches_the_same_optimum_in_fewer_steps():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 2))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(300))
    model, cold_steps, warm_steps = SVC(C=1.0, gamma=0.5, warm_start=True, tol=1e-7).fit(X, y), 0, 0
    for gamma in (0.52, 0.54, 0.56, 0.58):
        cold = SVC(C=1.0, gamma=gamma, tol=1e-7).fit(X, y)
        model.set_params(gamma=gamma).fit(X, y)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-7)
        cold_steps, warm_steps = cold_steps + cold.n_iter_[0], warm_steps + model.n_iter_[0]
    assert warm_steps < cold_steps


def test_the_band_is_twice_as_wide_as_the_margin():
    model = SVC(kernel="linear", C=np.inf, tol=1e-12).fit([[2.0, 2.0], [0.0, 0.0]], [1, -1])
    assert model.margin_[0] == pytest.approx(np.sqrt(2)) and model.margin_width_[0] == pytest.approx(2 * np.sqrt(2))
