"""Kernel ridge regression: worked numbers, identities, brute force, other solvers, and the certificate."""

import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import kernel_ridge as theirs
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as TheirRBF
from tests.forging import with_claim

from surefit import (
    Certificate,
    CertificateError,
    InvalidData,
    InvalidParameter,
    KernelRidge,
    KernelRidgeCV,
    Ridge,
)
from surefit.bounds import theory_lambda
from surefit.core.errors import ConvergenceWarning
from surefit.kernel_machines import kernel_ridge_training
from surefit.kernels import RBF, Linear, Min, Polynomial, Sigmoid, StringSubsequence

K2, Y2 = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])


def problem(seed=0, n=40, d=2, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = rng.standard_normal((n, targets) if targets else n)
    signal = np.sin(2 * X[:, 0])
    return X, (signal[:, None] if targets else signal) + 0.3 * noise


@pytest.mark.parametrize("alpha, square", [(0.1, 0.56931055), (1.0, 0.21875), (10.0, 0.01300797)])
def test_two_rows_by_hand(alpha, square):
    model = KernelRidge(alpha, kernel="precomputed").fit(K2, Y2)
    assert model.rkhs_norm_**2 == pytest.approx(square, abs=1e-8)
    assert Y2 - model.predict(K2) == pytest.approx(alpha * model.dual_coef_)  # residual form
    assert model.objective_ == pytest.approx(alpha * Y2 @ model.dual_coef_)
    assert model.verify(K2, Y2)["kernel_ridge.norm"].proved == pytest.approx(model.rkhs_norm_)


def test_min_kernel_has_a_tridiagonal_inverse():
    n, x = 8, np.arange(1, 9) / 8
    K = Min()(x[:, None])
    inverse = n * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    inverse[-1, -1] = n
    assert K @ inverse == pytest.approx(np.eye(n))
    y, penalty = np.cos(5 * x), 0.3
    banded = np.linalg.solve(np.eye(n) + penalty * inverse, y)
    assert KernelRidge(penalty, kernel=Min()).fit(x[:, None], y).predict(x[:, None]) == pytest.approx(banded)


@pytest.mark.parametrize("offset", [False, True])
def test_linear_kernel_is_ridge(offset):
    X, y = problem(1, targets=2)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    ours = KernelRidge(0.7, fit_intercept=offset).fit(X, y, s)
    ridge = Ridge(0.7, fit_intercept=offset).fit(X, y, s)
    assert X.T @ ours.dual_coef_ == pytest.approx(ridge.coef_.T)
    assert ours.intercept_ == pytest.approx(ridge.intercept_, abs=1e-12)


def test_kernel_with_features_is_ridge_on_them():
    X, y = problem(2)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    features = kernel.feature_map(X)
    flat = Ridge(0.5, fit_intercept=False).fit(features, y)
    assert KernelRidge(0.5, kernel=kernel).fit(X, y).predict(X) == pytest.approx(flat.predict(features))


def test_mean_of_a_gaussian_process():
    X, y = problem(3)
    process = GaussianProcessRegressor(TheirRBF(0.8), alpha=0.2, optimizer=None).fit(X, y)
    model = KernelRidge(0.2, kernel=RBF(length_scale=0.8)).fit(X, y)
    assert model.predict(X[:9] + 0.1) == pytest.approx(process.predict(X[:9] + 0.1))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_numbers_of_scikit_learn(kernel):
    X, y = problem(4, n=400, targets=2)
    s = np.random.default_rng(4).uniform(0.1, 2, len(y))
    for alpha in (0.3, [0.1, 5.0]):
        ours, peer = (cls(alpha, kernel=kernel).fit(X, y, s) for cls in (KernelRidge, theirs.KernelRidge))
        assert ours.dual_coef_ == pytest.approx(peer.dual_coef_, rel=1e-6, abs=1e-6)
        assert ours.predict(X[:5]) == pytest.approx(peer.predict(X[:5]), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("offset", [False, True])
def test_against_an_interior_point_solver(offset):
    X, y = problem(5, n=25)
    s = np.random.default_rng(5).uniform(0.5, 2, 25)
    values, vectors = np.linalg.eigh(RBF(gamma=0.5)(X))
    root = vectors * np.sqrt(np.maximum(values, 0))
    w, b = cp.Variable(25), cp.Variable()
    off = y - root @ w - (b if offset else 0.0)
    task = cp.Problem(cp.Minimize(s @ cp.square(off) + 0.4 * cp.sum_squares(w)))
    best = task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    model = KernelRidge(0.4, kernel="rbf", gamma=0.5, fit_intercept=offset).fit(X, y, s)
    assert model.objective_ == pytest.approx(best, rel=1e-8)


def test_constant_is_not_penalized():
    X, y = problem(6)
    model = KernelRidge(1e9, kernel="rbf", fit_intercept=True).fit(X, y)
    assert model.predict(X) == pytest.approx(np.full(len(y), y.mean()), abs=1e-6)
    moved = KernelRidge(0.5, kernel="rbf", fit_intercept=True).fit(X, y + 7)
    assert moved.predict(X) == pytest.approx(
        KernelRidge(0.5, kernel="rbf", fit_intercept=True).fit(X, y).predict(X) + 7
    )
    assert moved.dual_coef_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("offset", [False, True])
def test_radius_is_the_penalized_problem_at_its_multiplier(offset):
    X, y = problem(7, targets=2)
    model = KernelRidge(kernel="rbf", radius=1.5, fit_intercept=offset).fit(X, y)
    assert model.rkhs_norm_ == pytest.approx(1.5) and model.rkhs_norm_ <= 1.5 * (1 + 1e-12)
    same = KernelRidge(model.multiplier_, kernel="rbf", fit_intercept=offset).fit(X, y)
    assert same.dual_coef_ == pytest.approx(model.dual_coef_)
    assert model.certificate_["kernel_ridge.gap"].holds and model.verify(X, y)["kernel_ridge.norm"].ok


def test_a_ball_that_does_not_bind():
    X, y = problem(8, n=12)
    model = KernelRidge(kernel="laplacian", radius=1e3).fit(X, y)
    assert model.predict(X) == pytest.approx(y, abs=1e-6) and model.rkhs_norm_ < 1e3
    assert model.verify(X, y)["kernel_ridge.gap"].proved <= 1e-9 * float(y @ y)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_repetitions(seed, offset):
    X, y = problem(seed, n=14)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:2] = 1
    counted = KernelRidge(0.3, kernel="rbf", fit_intercept=offset).fit(X, y, times)
    repeated = KernelRidge(0.3, kernel="rbf", fit_intercept=offset).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-9)
    assert counted.objective_ == pytest.approx(repeated.objective_)
    assert counted.verify(X, y, times)["kernel_ridge.gap"].ok


def test_sparse_rows_float32_and_strings():
    X, y = problem(9)
    dense = KernelRidge(0.3, kernel="rbf").fit(X, y)
    assert KernelRidge(0.3, kernel="rbf").fit(sparse.csr_array(X), y).predict(X) == pytest.approx(dense.predict(X))
    assert KernelRidge(0.3, kernel="rbf").fit(X.astype(np.float32), y).predict(X.astype(np.float32)) == pytest.approx(
        dense.predict(X), abs=1e-4
    )
    words, lengths = ["cat", "cart", "dog", "dig"], np.array([1.0, 1.0, -1.0, -1.0])
    model = KernelRidge(0.1, kernel=StringSubsequence(2, 0.5)).fit(words, lengths)
    assert model.predict(["bat"])[0] > 0 > model.predict(["dogs"])[0] and model.verify(words, lengths)


def test_a_function_as_kernel_with_arguments():
    X, y = problem(10)

    def scaled(A, B, factor):
        return factor * (A @ B.T)

    model = KernelRidge(0.3, kernel=scaled, kernel_params={"factor": 2.0}).fit(X, y)
    assert model.predict(X) == pytest.approx(KernelRidge(0.15).fit(X, y).predict(X))
    assert model.certificate_["kernel_ridge.gap"].assumptions == ("kernel_positive_semidefinite",)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_a_kernel_that_is_none_claims_no_optimum():
    X, y = problem(11)
    model = KernelRidge(0.01, kernel=Sigmoid(gamma=1.0, coef0=-1.0)).fit(X, y)
    assert model.certificate_.grade == "B" and model.verify(X, y)["kernel_ridge.stationarity"].ok
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        KernelRidgeCV(kernel=Sigmoid(gamma=1.0)).fit(X, y)


def test_single_precision_factor_is_refined_or_left():
    X, y = problem(12, n=300)
    for alpha in (1.0, 1e-3, 1e-6):  # the last is too ill conditioned for float32
        model = KernelRidge(alpha, kernel="rbf", gamma=0.05).fit(X, y)
        K = RBF(gamma=0.05)(X)
        assert K @ model.dual_coef_ + alpha * model.dual_coef_ == pytest.approx(y, abs=1e-6)
        assert model.certificate_.holds


def test_a_penalty_lost_to_rounding_is_admitted():
    X = np.zeros((6, 1))
    y = np.arange(6.0)
    with pytest.warns(ConvergenceWarning, match="larger alpha"):
        model = KernelRidge(1e-30, kernel="rbf").fit(X, y)
    assert model.certificate_.holds is False


def test_a_changed_model_is_noticed():
    X, y = problem(13)
    model = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, y)
    text = model.certificate_.to_json()
    assert Certificate.from_json(text).verify(X, y)["kernel_ridge.gap"].level == "enclosed"
    worse = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, y)
    worse.dual_coef_ = worse.dual_coef_ + 1e-3
    certificate = worse.certificate_
    worse._issue(
        "A",
        list(certificate.claims),
        problem=certificate.problem,
        model=("dual_coef_", "intercept_"),
        data=certificate.data,
    )
    with pytest.raises(CertificateError, match=r"kernel_ridge\.gap"):
        worse.verify(X, y)


@pytest.mark.parametrize(
    "options, name", [({"alpha": 0.0}, "alpha"), ({"alpha": [1.0, 2.0, 3.0]}, "alpha"), ({"radius": -1.0}, "radius")]
)
def test_wrong_parameters(options, name):
    with pytest.raises(InvalidParameter, match=name):
        KernelRidge(**options).fit(*problem())


def test_precomputed_values_must_be_square():
    with pytest.raises(InvalidData, match="square"):
        KernelRidge(kernel="precomputed").fit(*problem())


# --- the choice of the penalty ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [False, True])
def test_leave_one_out_is_n_fits(offset):
    X, y = problem(14, n=15, targets=2)
    s = np.array([1.0, 2.0, 0.5] * 5)
    alphas = [0.01, 0.3, 4.0]
    model = KernelRidgeCV(alphas, kernel="rbf", fit_intercept=offset, store_cv_results=True).fit(X, y, s)
    for a, alpha in enumerate(alphas):
        for i in range(15):
            rest = np.where(np.arange(15) == i, np.maximum(s - 1, 0), s)  # one copy less
            fold = KernelRidge(alpha, kernel="rbf", fit_intercept=offset).fit(X, y, rest)
            assert (y[i] - fold.predict(X[i : i + 1])[0]) ** 2 == pytest.approx(model.cv_results_[i, :, a], rel=1e-7)
    mean = np.average(model.cv_results_, axis=0, weights=s).mean(axis=0)
    assert model.scores_ == pytest.approx(-mean) and model.alpha_ == alphas[int(np.argmin(mean))]
    assert model.verify(X, y, s)["kernel_ridge.leave_one_out"].ok


@pytest.mark.parametrize("offset", [False, True])
def test_degrees_of_freedom_and_gcv_of_the_hat_matrix(offset):
    X, y = problem(15, n=12)
    model = KernelRidgeCV([0.2], kernel="rbf", fit_intercept=offset, criterion="gcv").fit(X, y)
    hat = KernelRidge(0.2, kernel="rbf", fit_intercept=offset).fit(X, np.eye(12)).predict(X)
    assert model.degrees_of_freedom_ == pytest.approx([np.trace(hat)])
    assert model.best_score_ == pytest.approx(-12 * np.sum((y - hat @ y) ** 2) / (12 - np.trace(hat)) ** 2)


def test_the_fit_is_that_of_the_chosen_penalty():
    X, y = problem(16, targets=2)
    model = KernelRidgeCV(kernel="rbf", alpha_per_target=True).fit(X, y)
    same = KernelRidge(model.alpha_, kernel="rbf").fit(X, y)
    assert model.alpha_.shape == (2,) and model.scores_.shape == (55, 2)
    assert same.predict(X) == pytest.approx(model.predict(X))
    assert np.all(np.diff(model.degrees_of_freedom_) < 0)
    assert model.theory_alpha_ == pytest.approx(40 * theory_lambda(1.0, 40, offset=False))
    assert model.verify(X, y)["kernel_ridge.gap"].level == "enclosed"


def test_false_leave_one_out_error_is_refused():
    X, y = problem(17)
    model = KernelRidgeCV(kernel=Linear()).fit(X, y)
    certificate = model.certificate_
    name = "kernel_ridge.leave_one_out"
    with pytest.raises(CertificateError, match="leave_one_out"):
        with_claim(certificate, name, value=0.999999 * certificate[name].value).verify(X, y)
    exact = np.mean(-model.best_score_)
    assert exact <= certificate[name].value <= exact * (1 + 1e-9)


@pytest.mark.parametrize("alphas", [[], [0.0], "many"])
def test_wrong_penalties(alphas):
    with pytest.raises(InvalidParameter, match="alphas"):
        KernelRidgeCV(alphas).fit(*problem())


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2)])
def test_an_inactive_radius_is_least_squares(kernel):
    # a singular Gram matrix of few features: the least-squares solution of the smallest norm, multiplier zero
    X, y = problem(21, n=40)
    Z = kernel.feature_map(X)
    best = np.linalg.lstsq(Z, y, rcond=None)[0]
    norm = np.linalg.norm(best)
    model = KernelRidge(kernel=kernel, radius=2 * norm).fit(X, y)
    assert model.multiplier_ == 0.0
    assert model.predict(X) == pytest.approx(Z @ best, abs=1e-8)
    assert model.rkhs_norm_ == pytest.approx(norm, rel=1e-6)
    assert model.objective_ == pytest.approx(float(np.sum((y - Z @ best) ** 2)))
    found = model.verify(X, y)
    assert found["kernel_ridge.gap"].proved <= 1e-5 * float(y @ y)
    assert found["kernel_ridge.norm"].proved <= 2 * norm
    held = KernelRidge(kernel=kernel, radius=0.5 * norm).fit(X, y)
    assert held.multiplier_ > 0 and held.certificate_.holds and held.rkhs_norm_ <= 0.5 * norm
    assert held.verify(X, y)["kernel_ridge.norm"].proved <= 0.5 * norm


def test_the_norm_of_a_weakly_penalized_linear_fit_is_not_lost_to_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.5 * rng.normal(size=40)
    exact = np.linalg.norm(np.linalg.solve(X.T @ X + 1e-8 * np.eye(3), X.T @ y))
    model = KernelRidge(1e-8, kernel="linear").fit(X, y)
    certificate = model.certificate_
    assert exact <= certificate["kernel_ridge.norm"].value <= exact * (1 + 1e-5)
    for finding in model.verify(X, y).findings:
        assert finding.proved <= finding.claimed or finding.claimed != finding.claimed
    with pytest.raises(CertificateError, match="norm"):
        with_claim(certificate, "kernel_ridge.norm", value=0.99 * exact).verify(X, y)


def test_norm_without_an_eigendecomposition(monkeypatch):
    # coefficients of order 1 / alpha whose function is small: the product is accurate to far more digits than its worst case
    def decompose(*_):
        raise AssertionError("an eigendecomposition costs ten times the fit")

    monkeypatch.setattr(kernel_ridge_training.solver, "decompose", decompose)
    X, y = problem(22, n=300)
    model = KernelRidge(1e-3, kernel=RBF(gamma=0.1)).fit(X[:, :1], y)
    K, c = RBF(gamma=0.1)(X[:, :1]), [Fraction(value) for value in model.dual_coef_]
    square = sum(
        left * sum(Fraction(k) * right for k, right in zip(row, c, strict=True)) for left, row in zip(c, K, strict=True)
    )
    assert model.rkhs_norm_**2 == pytest.approx(float(square), rel=1e-9)
    assert model.rkhs_norm_ <= model.certificate_["kernel_ridge.norm"].value


def test_norm_at_a_tiny_penalty():
    # the coefficients are rounding errors divided by alpha in 37 of 40 directions, along which the function vanishes
    X, y = problem(23, n=40, d=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelRidge(1e-13, kernel=Linear()).fit(X, y)
    c = model.dual_coef_
    assert np.sum(np.abs(c)[:, None] * np.abs(X @ X.T) * np.abs(c)) > 1e16  # no digit of c' K c is left
    assert model.rkhs_norm_ == pytest.approx(np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0]), rel=1e-9)
