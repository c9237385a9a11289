"""Lasso and elastic net: worked numbers first, independent solvers second, odd input last."""

import itertools
import signal
import threading
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn import linear_model as theirs
from sklearn.datasets import load_diabetes

from surefit import CertificateError, ElasticNet, Invalidated, InvalidData, InvalidParameter, Lasso
from surefit.core.errors import ConvergenceWarning

CONTAINERS = [np.ascontiguousarray, np.asfortranarray, sparse.csc_array, sparse.csr_array, sparse.csc_matrix]


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def problem(seed=0, n=50, d=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X, X[:, :5] @ np.array([3.0, -2.0, 1.5, 0.5, -1.0]) + rng.standard_normal(n) + 10


def objective(model, X, y, alpha, l1_ratio=1.0):
    r = y - X @ model.coef_ - model.intercept_
    w = model.coef_
    return r @ r / (2 * len(y)) + alpha * (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w)


# --- the numbers of the notes -----------------------------------------------------------------------------------------


def test_three_points():
    # sum form lambda = 2: w = 1.5, b = 0, F = D = 3.5, lambda_max = 8; here alpha = lambda / (2 n) = 1/3
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    model = Lasso(alpha=1 / 3).fit(X, y)
    assert model.coef_[0] == pytest.approx(1.5, rel=1e-12) and model.intercept_ == pytest.approx(0, abs=1e-15)
    assert 6 * objective(model, X, y, 1 / 3) == pytest.approx(3.5, rel=1e-12)
    assert Lasso(alpha=8 / 6).fit(X, y).coef_[0] == 0.0
    assert Lasso(alpha=8 / 6 - 1e-6, tol=0.0).fit(X, y).coef_[0] > 0.0


def test_two_weights_lasso_kills_one_and_ridge_shrinks_both():
    # Phi = I_2, y = (3, 0.4), sum form lambda = 1: lasso (2.5, 0), ridge (1.5, 0.2)
    X, y = np.eye(2), np.array([3.0, 0.4])
    lasso = Lasso(alpha=1 / 4, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(lasso.coef_, [2.5, 0.0], rtol=1e-12)
    ridge = ElasticNet(alpha=1.0 / 2, l1_ratio=0.0, fit_intercept=False, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, [1.5, 0.2], rtol=1e-9)


def test_orthonormal_columns_are_soft_thresholded():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, 6)))[0]
    y = rng.standard_normal(40)
    c, threshold = Q.T @ y, 0.2  # threshold lambda/2 in the sum form, n alpha here
    model = Lasso(alpha=threshold / 40, fit_intercept=False, tol=1e-14).fit(Q, y)
    np.testing.assert_allclose(model.coef_, np.sign(c) * np.maximum(np.abs(c) - threshold, 0), atol=1e-10)


def test_the_l1_norm_is_the_largest_signed_sum():
    w = np.array([1.5, -2.0, 0.25])
    assert (
        max(sum(s * v for s, v in zip(signs, w, strict=True)) for signs in itertools.product((1, -1), repeat=3)) == 3.75
    )


def test_split_variable_quadratic_program_has_the_same_optimum():
    X, y = problem(2, 30, 6)
    model = Lasso(alpha=0.3, tol=1e-12).fit(X, y)

    def objective_and_gradient(v):
        w, b = v[:6] - v[6:12], v[12]
        r = X @ w + b - y
        g = X.T @ r / 30
        return r @ r / 60 + 0.3 * v[:12].sum(), np.r_[g + 0.3, -g + 0.3, r.mean()]

    bounds = [(0, None)] * 12 + [(None, None)]
    best = minimize(
        objective_and_gradient, np.zeros(13), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000},
    )  # fmt: skip
    assert objective(model, X, y, 0.3) == pytest.approx(best.fun, rel=1e-9)
    assert np.all(np.minimum(best.x[:6], best.x[6:12]) < 1e-6)  # complementarity
    shifted = best.x.copy()
    shifted[[0, 6]] += 1.0
    assert objective_and_gradient(shifted)[0] - best.fun == pytest.approx(2 * 0.3)


def test_support_is_at_most_the_rank():
    X, y = problem(3, 12, 60)
    model = Lasso(alpha=1e-3, tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 11


def test_duplicate_columns_share_one_fit():
    X, y = problem(4, 40, 5)
    single = Lasso(alpha=0.2, tol=1e-12).fit(X, y)
    double = Lasso(alpha=0.2, tol=1e-12).fit(np.hstack([X, X[:, :2]]), y)
    np.testing.assert_allclose(double.predict(np.hstack([X, X[:, :2]])), single.predict(X), atol=1e-5)
    assert np.abs(double.coef_).sum() == pytest.approx(np.abs(single.coef_).sum(), rel=1e-5)


def test_complexity_falls_and_loss_rises_with_alpha(diabetes):
    X, y = diabetes
    models = [Lasso(alpha=a, tol=1e-10).fit(X, y) for a in (0.01, 0.1, 0.5, 1.0, 3.0)]
    norms = [np.abs(m.coef_).sum() for m in models]
    losses = [np.mean((y - m.predict(X)) ** 2) for m in models]
    assert norms == sorted(norms, reverse=True) and losses == sorted(losses)
    assert norms[-1] == 0.0 and models[-1].intercept_ == pytest.approx(y.mean())


# --- the gap is a bound, and `tol` means it ---------------------------------------------------------------------------


@pytest.mark.parametrize("max_iter", [1, 2, 5, 1000])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_bounds_the_distance_at_every_stop(max_iter, l1_ratio):
    X, y = problem(5, 60, 200)
    best = objective(ElasticNet(alpha=0.1, l1_ratio=l1_ratio, tol=1e-13, max_iter=10**5).fit(X, y), X, y, 0.1, l1_ratio)
    model = ElasticNet(alpha=0.1, l1_ratio=l1_ratio, tol=0.0, max_iter=max_iter).fit(X, y)
    assert objective(model, X, y, 0.1, l1_ratio) - best <= model.dual_gap_ + 1e-12
    model.verify(X, y)


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-10])
def test_tol_is_the_relative_gap(diabetes, tol):
    X, y = diabetes
    model = Lasso(alpha=0.05, tol=tol).fit(X, y)
    null = np.var(y) / 2
    assert model.dual_gap_ <= tol * null
    claim = model.certificate_["linear.gap"]
    assert claim.limit == pytest.approx(tol * null) and claim.holds
    assert model.verify(X, y)["linear.gap"].proved <= tol * null + 1e-12 * null


def test_unconverged_says_how_far(diabetes):
    X, y = diabetes
    with pytest.warns(
        ConvergenceWarning, match=r"Lasso: gap .* > .* wanted: max_iter was reached; raise max_iter or tol"
    ):
        model = Lasso(alpha=0.001, max_iter=1, tol=1e-13).fit(X, y)
    assert model.certificate_.holds is False
    model.verify(X, y)  # the claim is honest all the same


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}], ids=str)
def test_agrees_with_scikit_learn(container, options):
    X, y = problem(6, 80, 40)
    X[np.abs(X) < 0.5] = 0.0
    weights = np.random.default_rng(0).uniform(0, 2, 80)
    for l1_ratio in (1.0, 0.3):
        ours = ElasticNet(alpha=0.2, l1_ratio=l1_ratio, tol=1e-13, **options).fit(
            container(X), y, sample_weight=weights
        )
        other = theirs.ElasticNet(alpha=0.2, l1_ratio=l1_ratio, tol=1e-14, max_iter=10**5, **options)
        other.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-6)
        assert ours.intercept_ == pytest.approx(other.intercept_, abs=1e-6)
        assert ours.verify(container(X), y, sample_weight=weights)["linear.gap"].proved < 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 15), st.floats(1e-3, 2.0), st.booleans())
def test_agrees_with_an_interior_point_solver(seed, n, d, alpha, intercept):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(-5, 6, n).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Lasso(alpha=alpha, fit_intercept=intercept, tol=1e-9, max_iter=10_000).fit(X, y)
    w, b = cp.Variable(d), cp.Variable()
    fit = cp.sum_squares(y - X @ w - (b if intercept else 0)) / (2 * n)
    best = cp.Problem(cp.Minimize(fit + alpha * cp.norm1(w))).solve(solver=cp.CLARABEL)
    assert objective(model, X, y, alpha) <= best + model.dual_gap_ + 1e-6
    model.verify(X, y)


# --- weights, factors, radius, start ----------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=20, max_size=20).filter(lambda c: sum(c) > 3), st.booleans())
def test_a_weight_is_a_repetition(counts, as_sparse):
    X, y = problem(7, 20, 5)
    repeated = np.repeat(np.arange(20), counts)
    weighted = Lasso(alpha=0.3, tol=1e-12).fit(sparse.csc_array(X) if as_sparse else X, y, sample_weight=counts)
    plain = Lasso(alpha=0.3, tol=1e-12).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-7)
    assert weighted.intercept_ == pytest.approx(plain.intercept_, abs=1e-7)


def test_factors_scale_columns():
    X, y = problem(8, 60, 6)
    factors = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.0])
    model = Lasso(alpha=0.2, penalty_factors=factors, tol=1e-13).fit(X, y)
    scaled = Lasso(alpha=0.2, tol=1e-13).fit(X / factors, y)
    np.testing.assert_allclose(model.coef_, scaled.coef_ / factors, atol=1e-8)
    model.verify(X, y)


def test_free_and_excluded_features():
    X, y = problem(9, 60, 6)
    factors = np.array([0.0, 0.0, np.inf, np.inf, 1.0, 1.0])
    model = Lasso(alpha=100.0, penalty_factors=factors, tol=1e-12).fit(X, y)
    least_squares = np.linalg.lstsq(np.c_[X[:, :2], np.ones(60)], y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[:2], least_squares[:2], rtol=1e-6)
    assert not model.coef_[2:].any() and model.inactive_[2:4].all() and not model.inactive_[:2].any()
    model.verify(X, y)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_constrained_form_equals_penalized_form(l1_ratio):
    X, y = problem(10, 60, 20)
    penalized = ElasticNet(alpha=0.3, l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    w = penalized.coef_
    radius = l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w
    constrained = ElasticNet(radius=radius, l1_ratio=l1_ratio, tol=1e-9).fit(X, y)
    v = constrained.coef_
    assert l1_ratio * np.abs(v).sum() + (1 - l1_ratio) / 2 * v @ v <= radius
    np.testing.assert_allclose(v, w, atol=1e-3)
    assert constrained.multiplier_ == pytest.approx(0.3, rel=1e-2)
    assert constrained.certificate_.holds
    constrained.verify(X, y)


def test_a_radius_beyond_least_squares_is_inactive_and_zero_gives_the_mean():
    X, y = problem(11, 60, 5)
    free = np.linalg.lstsq(np.c_[X, np.ones(60)], y, rcond=None)[0]
    wide = Lasso(radius=2 * np.abs(free[:5]).sum(), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(wide.coef_, free[:5], rtol=1e-4)
    none = Lasso(radius=0.0).fit(X, y)
    assert not none.coef_.any() and none.intercept_ == pytest.approx(y.mean())
    none.verify(X, y)


def test_warm_start_goes_on_where_it_stopped():
    X, y = problem(12, 100, 300)
    model = Lasso(alpha=0.02, tol=1e-12, max_iter=2, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gaps = [model.fit(X, y).dual_gap_ for _ in range(30)]
    assert gaps[-1] < 1e-3 * gaps[0]
    again = Lasso(alpha=0.02, tol=1e-8, warm_start=True).fit(X, y)
    assert again.fit(X, y).n_iter_ <= 2


# --- stopping ---------------------------------------------------------------------------------------------------------


def long_problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8000))
    return X, X[:, :50].sum(axis=1) + rng.standard_normal(1000)


def test_max_time_returns_a_usable_model_whose_gap_verifies():
    X, y = long_problem()
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = Lasso(alpha=1e-5, tol=1e-14, max_time=0.2, max_iter=10**6).fit(X, y)
    assert np.isfinite(model.coef_).all() and model.dual_gap_ < np.var(y)
    model.verify(X, y)


def test_ctrl_c_returns_a_usable_model_whose_gap_verifies():
    X, y = long_problem()
    Lasso().fit(X[:50], y[:50])  # compiled before the clock starts
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.warns(ConvergenceWarning, match="interrupted by Ctrl-C"):
        model = Lasso(alpha=1e-5, tol=0.0, max_iter=10**6).fit(X, y)
    model.verify(X, y)


# --- odd and bad input ------------------------------------------------------------------------------------------------


def test_constant_column_constant_target_and_more_features_than_rows():
    X, y = problem(13, 10, 40)
    X[:, 3] = 7.0
    model = Lasso(alpha=0.1).fit(X, y)
    assert model.coef_[3] == 0.0 and model.inactive_[3]
    model.verify(X, y)
    flat = Lasso(alpha=0.1).fit(X, np.full(10, 5.0))
    assert not flat.coef_.any() and flat.intercept_ == 5.0 and flat.dual_gap_ <= 1e-25 and flat.certificate_.holds
    flat.verify(X, np.full(10, 5.0))


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1e8, 1e100])
def test_units_of_the_features_change_units_of_the_weights_only(scale):
    X, y = problem(14, 40, 5)
    factors = np.full(5, scale)  # alpha |w| is scaled back by the factors
    reference = Lasso(alpha=0.2, tol=1e-10).fit(X, y)
    model = Lasso(alpha=0.2, tol=1e-10, penalty_factors=factors).fit(X * scale, y)
    np.testing.assert_allclose(model.predict(X * scale), reference.predict(X), rtol=1e-5)


def test_far_from_the_origin_keeps_its_digits():
    X, y = problem(15, 200, 5)
    near, far = Lasso(alpha=0.1, tol=1e-12).fit(X, y), Lasso(alpha=0.1, tol=1e-12).fit(X + 1e6, y + 1e6)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8, atol=1e-8)


def test_float32_is_kept_and_close():
    X, y = problem(16, 60, 10)
    single = Lasso(alpha=0.2, tol=1e-10).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, Lasso(alpha=0.2, tol=1e-10).fit(X, y).coef_, atol=1e-5)
    single.verify(X.astype(np.float32), y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(frame):
    X, y = problem(17, 40, 5)
    X = X[:, :3]
    table = frame({name: X[:, j] for j, name in enumerate(["age", "height", "weight"])})
    model = Lasso(alpha=0.1).fit(table, y)
    assert list(model.feature_names_in_) == ["age", "height", "weight"]
    np.testing.assert_array_equal(model.predict(table), model.predict(table))
    model.verify(table, y)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"alpha": -1}, r"Lasso: alpha must be a finite number >= 0; got -1\."),
        ({"tol": -1e-3}, "Lasso: tol must be a finite number >= 0"),
        ({"max_iter": 0}, "Lasso: max_iter must be an integer >= 1"),
        ({"radius": -1.0}, "Lasso: radius must be None, or a finite number >= 0"),
        ({"selection": "best"}, "Lasso: selection must be one of 'cyclic', 'random'"),
        ({"penalty_factors": [1.0]}, "Lasso: penalty_factors must be an array of 3 numbers, one per feature"),
        ({"penalty_factors": [1.0, -1.0, 1.0]}, "Lasso: penalty_factors must be numbers >= 0"),
        ({"max_time": 0}, "Lasso: max_time must be None, or a finite number > 0"),
    ],
)
def test_bad_parameters(params, match):
    with pytest.raises(InvalidParameter, match=match):
        Lasso(**params).fit(np.eye(3), np.arange(3.0))


def test_bad_data():
    X = np.eye(3)
    X[2, 1] = np.nan
    with pytest.raises(InvalidData, match="Lasso: X contains NaN at row 2, column 1;"):
        Lasso().fit(X, np.arange(3.0))
    with pytest.raises(InvalidData, match="squares of y overflow"):
        Lasso().fit(np.eye(3), np.array([1e300, -1e300, 0.0]))


def test_tampering_is_noticed(diabetes):
    X, y = diabetes
    model = Lasso(alpha=0.5).fit(X, y)
    model.verify(X, y)
    model.coef_[2] *= 1.0001
    with pytest.raises(Invalidated, match="coef_ was changed after the fit"):
        model.verify(X, y)
    model.fit(X, y).set_params(alpha=0.1)
    with pytest.raises(Invalidated, match=r"parameter alpha is 0\.1 now and was 0\.5 when fitted"):
        model.verify(X, y)
    model.fit(X, y)
    claim = model.certificate_.claims[0]  # sealed when read
    object.__setattr__(claim, "value", claim.value / 2)
    with pytest.raises(Invalidated, match="altered after it was issued"):
        model.verify(X, y)


def test_a_forger_who_also_forges_the_seal_is_caught_by_arithmetic(diabetes):
    X, y = diabetes
    model = Lasso(alpha=0.01, tol=0.3).fit(X, y)
    assert model.dual_gap_ > 1.0
    object.__setattr__(model._certificate.claims[0], "value", 1e-9)
    object.__setattr__(model._certificate, "seal", model._certificate._digest())
    with pytest.raises(CertificateError, match=r"claim 'linear\.gap' does not hold: claimed 1e-09, found"):
        model.verify(X, y)


@pytest.mark.parametrize("alpha", [1e-15, 0.1])
def test_a_constant_target_is_explained_by_the_intercept_whatever_alpha(alpha):
    X, _ = problem(18, 30, 5)
    model = Lasso(alpha=alpha).fit(X, np.full(30, 0.1))
    assert not model.coef_.any()
    model.verify(X, np.full(30, 0.1))


def test_inactive_features_of_the_constrained_form_are_zero_in_its_solution():
    X, y = problem(19, 60, 40)
    exact = Lasso(radius=3.0, tol=1e-12).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for tol in (1e-2, 1e-4, 1e-8):
            model = Lasso(radius=3.0, tol=tol).fit(X, y)
            assert not exact.coef_[model.inactive_].any()
            model.verify(X, y)
    assert exact.inactive_.sum() > 20


@pytest.mark.parametrize("shape", [(40, 6), (10, 25)], ids=["tall", "wide"])
@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 0.0, "positive": True}, {"positive": True}], ids=str)
def test_unpenalized_and_positive_fits_verify(shape, options):
    for seed in range(5):
        X, y = problem(seed, *shape)
        factors = None if options.get("alpha") == 0.0 else np.r_[np.zeros(3), np.ones(shape[1] - 3)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = Lasso(penalty_factors=factors, **options).fit(X, y)
        assert model.dual_gap_ <= 1e-3 * np.var(y)
        model.verify(X, y)


@pytest.mark.parametrize("cls", [Lasso, ElasticNet])
@pytest.mark.parametrize("packed", [np.asarray, sparse.csc_array])
def test_several_targets_are_one_problem_each(cls, packed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.7)
    Y = X @ rng.normal(size=(6, 3)) + 2.0 + 0.1 * rng.normal(size=(40, 3))
    weights = 1.0 + np.arange(40) % 2
    model = cls(alpha=0.05, tol=1e-10).fit(packed(X), Y, weights)
    single = [cls(alpha=0.05, tol=1e-10).fit(packed(X), y, weights) for y in Y.T]
    np.testing.assert_array_equal(model.coef_, [one.coef_ for one in single])
    np.testing.assert_allclose(
        model.predict(X), np.column_stack([one.predict(X) for one in single]), rtol=1e-12, atol=1e-14
    )
    assert model.sparse_coef_.shape == (3, 6) and model.predict(X).shape == (40, 3)
    assert model.dual_gap_ <= 1.001 * sum(one.dual_gap_ for one in single)
    assert model.verify(packed(X), Y, weights)["linear.gap"].proved <= 1e-9
    with pytest.raises(ValueError, match="several targets"):
        cls(radius=1.0).fit(X, Y)
    again = cls(alpha=0.05, tol=1e-10, warm_start=True).fit(X, Y).fit(X, Y)
    assert again.n_iter_ <= model.n_iter_ and cls(alpha=0.05).fit(X, Y[:, :1]).coef_.shape == (6,)
