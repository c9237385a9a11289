"""Kernel ridge regression with functions that are not penalized: splines, bordered systems, brute force, and the certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from surefit import (
    Certificate,
    CertificateError,
    InvalidData,
    InvalidParameter,
    KernelRidge,
    KernelRidgeCV,
    SmoothingSpline,
    load,
    save,
)
from surefit.core.claims import Claim
from surefit.kernels import RBF, IntegratedBrownian, Linear, Min, StringSubsequence


def problem(seed=0, n=30, d=2, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.05, 1, (n, d))
    noise = rng.standard_normal((n, targets) if targets else n)
    signal = np.sin(6 * X[:, 0]) + 2 * X[:, -1]
    return X, (signal[:, None] if targets else signal) + 0.3 * noise


def quadratic(X):
    """All monomials of two columns up to degree two, by rising degree."""
    a, b = X.T
    return np.column_stack([np.ones(len(X)), a, b, a * a, a * b, b * b])


def refitted(model, changed):
    """Issue the certificate of ``model`` again after a coefficient was changed."""
    old = model.certificate_
    setattr(model, changed, getattr(model, changed) + 1e-3)
    model._issue("A", list(old.claims), problem=old.problem, model=tuple(old.model), data=old.data)
    return model


@pytest.mark.parametrize(
    "kernel, degree, null_space", [(IntegratedBrownian(), 3, "linear"), (Min(), 1, "constant"), (Min(), 1, 0)]
)
def test_smoothing_splines(kernel, degree, null_space):
    X, y = problem(1, d=1)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    lam, new = 1e-3, np.linspace(0.02, 1.2, 50)[:, None]
    spline = SmoothingSpline(degree=degree, lam=lam).fit(X, y, s)
    model = KernelRidge(s.sum() * lam, kernel=kernel, null_space=null_space).fit(X, y, s)
    assert model.predict(new) == pytest.approx(spline.predict(new), abs=1e-8)
    chosen = KernelRidgeCV([s.sum() * lam], kernel=kernel, null_space=null_space, store_cv_results=True).fit(X, y, s)
    assert chosen.degrees_of_freedom_ == pytest.approx([spline.edof_], abs=1e-7)
    assert chosen.cv_results_[:, 0] == pytest.approx(spline.loo_residuals_**2, abs=1e-7)
    assert model.verify(X, y, s)["kernel_ridge.gap"].level == "enclosed"


def test_the_bordered_system():
    X, y = problem(2, targets=2)
    s, K, T = np.random.default_rng(2).uniform(0.5, 2, len(y)), RBF(gamma=2.0)(X), quadratic(X)
    system = np.block([[K + np.diag(0.3 / s), T], [T.T, np.zeros((6, 6))]])
    solved = np.linalg.solve(system, np.vstack([y, np.zeros((6, 2))]))
    model = KernelRidge(0.3, kernel=RBF(gamma=2.0), null_space=2).fit(X, y, s)
    assert model.dual_coef_ == pytest.approx(solved[:30], abs=1e-9)
    assert T.T @ model.dual_coef_ == pytest.approx(np.zeros((6, 2)), abs=1e-11)
    assert y - model.predict(X) == pytest.approx(0.3 * model.dual_coef_ / s[:, None])  # residual form
    assert model.objective_ == pytest.approx(0.3 * np.sum(y * model.dual_coef_))  # the optimal value
    around = quadratic(X - model.null_center_)
    smooth = model.predict(X) - K @ model.dual_coef_
    assert np.vstack([model.intercept_, model.null_coef_]) == pytest.approx(np.linalg.lstsq(around, smooth)[0])
    assert model.verify(X, y, s)["kernel_ridge.gap"].proved < 1e-20 * np.sum(y**2) + 1e-20


def test_against_an_interior_point_solver():
    X, y = problem(3, n=20)
    values, vectors = np.linalg.eigh(RBF(gamma=2.0)(X))
    root, w, b = vectors * np.sqrt(np.maximum(values, 0)), cp.Variable(20), cp.Variable(3)
    T = quadratic(X)[:, :3]
    best = cp.Problem(cp.Minimize(cp.sum_squares(y - root @ w - T @ b) + 0.2 * cp.sum_squares(w))).solve(
        solver=cp.CLARABEL
    )
    assert KernelRidge(0.2, kernel=RBF(gamma=2.0), null_space="linear").fit(X, y).objective_ == pytest.approx(
        best, rel=1e-8
    )


def test_free_functions_pass_through():
    X, y = problem(4)
    plain = KernelRidge(0.1, kernel="rbf", null_space=2).fit(X, y)
    moved = KernelRidge(0.1, kernel="rbf", null_space=2).fit(X, y + quadratic(X) @ [3.0, -1.0, 2.0, 5.0, 0.5, -4.0])
    assert moved.dual_coef_ == pytest.approx(plain.dual_coef_, abs=1e-9)
    assert moved.rkhs_norm_ == pytest.approx(plain.rkhs_norm_)
    stiff = KernelRidge(1e10, kernel="rbf", null_space=2).fit(X, y)  # nothing but least squares is left
    T = quadratic(X)
    assert stiff.predict(X) == pytest.approx(T @ np.linalg.lstsq(T, y)[0], abs=1e-6)


def test_as_many_functions_as_rows_interpolate():
    X, y = problem(5, n=3)
    model = KernelRidge(1.0, kernel="rbf", null_space="linear").fit(X, y)
    assert model.predict(X) == pytest.approx(y) and model.dual_coef_ == pytest.approx(np.zeros(3))
    chosen = KernelRidgeCV([1.0], kernel="rbf", null_space="linear").fit(X, y)
    assert chosen.degrees_of_freedom_ == pytest.approx([3.0]) and chosen.best_score_ == -np.inf
    assert chosen.verify(X, y)["kernel_ridge.gap"].ok


@pytest.mark.parametrize("null_space", ["linear", 2])
def test_leave_one_out_is_n_fits_and_freedom_the_trace(null_space):
    X, y = problem(6, n=14)
    s = np.array([1.0, 2.0] * 7)
    options = {"kernel": "rbf", "gamma": 2.0, "null_space": null_space}
    model = KernelRidgeCV([0.05, 0.8], store_cv_results=True, **options).fit(X, y, s)
    for a, alpha in enumerate(model.alphas_):
        for i in range(14):
            rest = np.where(np.arange(14) == i, s - 1, s)
            fold = KernelRidge(alpha, **options).fit(X, y, rest)
            assert (y[i] - fold.predict(X[i : i + 1])[0]) ** 2 == pytest.approx(model.cv_results_[i, a], rel=1e-6)
    assert model.verify(X, y, s)["kernel_ridge.leave_one_out"].ok
    alone = KernelRidgeCV([0.8], criterion="gcv", **options).fit(X, y)
    hat = KernelRidge(0.8, **options).fit(X, np.eye(14)).predict(X)
    assert alone.degrees_of_freedom_ == pytest.approx([np.trace(hat)])
    assert alone.best_score_ == pytest.approx(-14 * np.sum((y - hat @ y) ** 2) / (14 - np.trace(hat)) ** 2)
    assert np.isnan(alone.theory_alpha_)


def test_a_row_that_alone_determines_a_function_cannot_be_left_out():
    X, y = problem(7, n=12)

    def first(rows):
        return (rows[:, 0] == X[0, 0]).astype(float)

    model = KernelRidgeCV([0.1], kernel="rbf", null_space=first, store_cv_results=True).fit(X, y)
    assert model.predict(X)[0] == pytest.approx(y[0])
    assert np.isinf(model.cv_results_[0, 0]) and np.all(np.isfinite(model.cv_results_[1:, 0]))
    assert "kernel_ridge.leave_one_out" not in [claim.name for claim in model.certificate_.claims]


def test_functions_and_transformers_of_the_user():
    X, y = problem(8)
    degree = KernelRidge(0.1, kernel="rbf", null_space=2).fit(X, y)
    own = KernelRidge(0.1, kernel="rbf", null_space=quadratic).fit(X, y)
    fitted = KernelRidge(
        0.1, kernel="rbf", null_space=PolynomialFeatures(2, include_bias=False), fit_intercept=True
    ).fit(X, y)
    for model in (own, fitted):
        assert model.predict(X + 0.01) == pytest.approx(degree.predict(X + 0.01))
        assert model.verify(X, y)["kernel_ridge.gap"].ok
    assert fitted.null_space is not fitted.null_space_ and fitted.null_coef_.shape == (5,)
    assert own.intercept_ == 0.0 and own.null_coef_.shape == (6,)
    with pytest.raises(CertificateError, match="verify the model"):
        Certificate.from_json(own.certificate_.to_json()).verify(X, y)
    knots = KernelRidge(0.1, kernel="rbf", null_space=SplineTransformer(4, degree=2)).fit(X[:, :1], y)
    assert knots.verify(X[:, :1], y)["kernel_ridge.gap"].ok
    words = ["cat", "cart", "dog", "dig"]
    spoken = KernelRidge(0.1, kernel=StringSubsequence(2, 0.5), null_space=lambda S: np.array([len(w) for w in S]))
    assert spoken.fit(words, [1.0, 2.0, -1.0, -1.0]).verify(words, [1.0, 2.0, -1.0, -1.0])


def test_within_a_ball():
    X, y = problem(9)
    model = KernelRidge(kernel="rbf", radius=0.8, null_space="linear").fit(X, y)
    same = KernelRidge(model.multiplier_, kernel="rbf", null_space="linear").fit(X, y)
    assert model.rkhs_norm_ == pytest.approx(0.8) and same.predict(X) == pytest.approx(model.predict(X))
    assert model.verify(X, y)["kernel_ridge.gap"].ok


def test_far_from_the_origin_and_many_rows():
    X, y = problem(10, n=300)
    near = KernelRidge(0.1, kernel="rbf", gamma=2.0, null_space=2).fit(X, y)
    far = KernelRidge(0.1, kernel="rbf", gamma=2.0, null_space=2).fit(X + 1e6, y)
    assert far.predict(X + 1e6) == pytest.approx(near.predict(X), abs=1e-7)
    assert far.certificate_.holds and far.verify(X + 1e6, y)["kernel_ridge.gap"].level == "enclosed"


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-6, 0.1))
def test_the_checker_bounds_what_was_spoilt(seed, size):
    X, y = problem(seed, n=12)
    model = KernelRidge(0.3, kernel="rbf", null_space="linear").fit(X, y)
    best, rng = model.objective_, np.random.default_rng(seed)
    model.dual_coef_ = model.dual_coef_ + size * rng.standard_normal(12)
    model.null_coef_ = model.null_coef_ + size * rng.standard_normal(2)
    old = model.certificate_
    model._issue("A", [Claim("kernel_ridge.gap")], problem=old.problem, model=tuple(old.model), sample=(X, y, None))
    K = model.kernel_(X)
    off = y - K @ model.dual_coef_ - quadratic(X - model.null_center_)[:, :3] @ [model.intercept_, *model.null_coef_]
    now = off @ off + 0.3 * model.dual_coef_ @ K @ model.dual_coef_
    assert now - best <= model.verify(X, y)["kernel_ridge.gap"].proved * (1 + 1e-9)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["linear", 2]))
def test_weights_are_repetitions(seed, null_space):
    X, y = problem(seed, n=16)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:9] = 1
    options = {"kernel": "rbf", "gamma": 2.0, "null_space": null_space}
    counted = KernelRidge(0.3, **options).fit(X, y, times)
    repeated = KernelRidge(0.3, **options).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-7)
    assert counted.null_coef_ == pytest.approx(repeated.null_coef_, abs=1e-6)
    assert counted.verify(X, y, times)["kernel_ridge.gap"].ok
    chosen = KernelRidgeCV([0.3], criterion="gcv", **options)
    ours = chosen.fit(X, y, times).degrees_of_freedom_
    assert ours == pytest.approx(chosen.fit(np.repeat(X, times, 0), np.repeat(y, times)).degrees_of_freedom_)


def test_sparse_rows_and_float32():
    X, y = problem(14)
    dense = KernelRidge(0.3, kernel="rbf", null_space="linear").fit(X, y)
    thin = KernelRidge(0.3, kernel="rbf", null_space="linear").fit(sparse.csr_array(X), y)
    assert thin.predict(sparse.csr_array(X)) == pytest.approx(dense.predict(X)) and thin.verify(sparse.csr_array(X), y)
    single = X.astype(np.float32)
    half = KernelRidge(0.3, kernel="rbf", null_space="linear").fit(single, y)
    assert half.predict(single) == pytest.approx(dense.predict(X), abs=1e-5) and half.verify(single, y)


def test_files_hold_the_free_functions(tmp_path):
    X, y = problem(15)
    for i, free in enumerate((2, PolynomialFeatures(2, include_bias=False))):
        model = KernelRidge(0.3, kernel="rbf", null_space=free, fit_intercept=True).fit(X, y)
        save(model, tmp_path / f"{i}.skops")
        again = load(tmp_path / f"{i}.skops")
        assert np.array_equal(again.predict(X), model.predict(X)) and again.verify(X, y)


@pytest.mark.parametrize("changed", ["null_coef_", "intercept_", "dual_coef_"])
def test_a_changed_coefficient_is_noticed(changed):
    X, y = problem(11)
    model = KernelRidge(0.3, kernel="rbf", null_space="linear").fit(X, y)
    assert Certificate.from_json(model.certificate_.to_json()).verify(X, y)
    with pytest.raises(CertificateError, match=r"kernel_ridge\.gap"):
        refitted(model, changed).verify(X, y)


def test_dependent_functions_are_refused():
    X, y = problem(12)
    constant = np.column_stack([X, np.ones(30)])
    with pytest.raises(InvalidData, match="4 functions .* 3 of them"):
        KernelRidge(kernel="rbf", null_space="linear").fit(constant, y)
    with pytest.raises(InvalidData, match="linearly dependent"):
        KernelRidge(kernel="rbf", null_space=9).fit(X, y)  # 55 monomials, 30 rows
    with pytest.raises(InvalidData, match="linearly dependent"):
        KernelRidge(kernel="rbf", null_space=quadratic, fit_intercept=True).fit(X, y)  # two constants
    with pytest.raises(InvalidData, match="linearly dependent"):
        KernelRidge(kernel=Linear(), null_space="linear").fit(np.zeros((5, 1)), np.arange(5.0))


def test_what_it_refuses():
    X, y = problem(13)
    for wrong in (-1, 1.5, "quadratic", True):
        with pytest.raises(InvalidParameter, match="null_space"):
            KernelRidge(null_space=wrong).fit(X, y)
    with pytest.raises(InvalidParameter, match="no columns"):
        KernelRidge(kernel="precomputed", null_space="linear").fit(np.eye(30), y)
    with pytest.raises(InvalidData, match="one row of finite numbers"):
        KernelRidge(null_space=lambda rows: rows[:3]).fit(X, y)
    with pytest.raises(InvalidData, match="one row of finite numbers"):
        KernelRidge(null_space=lambda rows: np.full(len(rows), np.nan)).fit(X, y)
