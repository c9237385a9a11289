"""Ridge and RidgeCV: worked numbers and identities first, scikit-learn and cvxpy second, odd input last."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_diabetes

from surefit import CertificateError, ElasticNet, InvalidParameter, LinearRegression, Ridge, RidgeCV, ridge_risk


def problem(seed=0, n=50, d=6, targets=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 2
    Y = X[:, :targets] * 2 + rng.standard_normal((n, targets)) + 10
    return X, Y[:, 0] if targets == 1 else Y


# --- the numbers of the notes -----------------------------------------------------------------------------------------


def test_the_literal_formula_penalizes_the_intercept():
    X, y = problem(1)
    Z = np.column_stack([X, np.ones(50)])
    w = np.linalg.solve(Z.T @ Z + 3 * np.eye(7), Z.T @ y)
    model = Ridge(3.0, penalize_intercept=True).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w, rtol=1e-10)
    assert model.verify(X, y)["linear.gap"].level == "enclosed"


def test_two_points_have_the_worked_mean_squared_errors():
    # sigma2 = 3, truth (1, 0.5): 3, 1.97, 1.0625, 0.882353 at 0, 0.5, 2, 4.8; best is 2 sigma2 / B = 4.8
    X = np.array([[-1.0, 1.0], [1.0, 1.0]])
    risk = ridge_risk(X, [0, 0.5, 2, 4.8], truth=[1, 0.5], sigma2=3)
    np.testing.assert_allclose(risk.mse, [3, 1.97, 1.0625, 3 * 1.25 / 4.25], rtol=1e-12)
    at = ridge_risk(X, [2.0], truth=[1, 0.5], sigma2=3, at=[1.5, 1])
    assert at.variance[0] == pytest.approx(6.5 * 3 / 16) and at.squared_bias[0] == pytest.approx(4 / 16 * 4)


def test_bias_and_variance_at_a_point():
    # x = -2..2, w = (1, 2), sigma = 1, at 3: (0, 1.1), (-0.712121, 0.882691), (-3.666667, 0.247222)
    X = np.column_stack([np.ones(5), np.arange(-2.0, 3.0)])
    risk = ridge_risk(X, [0, 1, 10], truth=[1, 2], sigma2=1, at=[1, 3])
    np.testing.assert_allclose(np.sqrt(risk.squared_bias), [0, 0.712121, 3.666667], atol=1e-6)
    np.testing.assert_allclose(risk.variance, [1.1, 0.882691, 0.247222], atol=1e-6)


def test_bias_rises_and_variance_falls():
    X, _ = problem(2)
    risk = ridge_risk(X, np.geomspace(1e-3, 1e3, 30), truth=np.ones(6), sigma2=2.0)
    assert np.all(np.diff(risk.squared_bias) > 0) and np.all(np.diff(risk.variance) < 0)


# --- identities -------------------------------------------------------------------------------------------------------


def test_ridge_is_least_squares_with_more_rows():
    X, y = problem(3)
    model = Ridge(2.0, fit_intercept=False).fit(X, y)
    longer = LinearRegression(fit_intercept=False).fit(
        np.vstack([X, np.sqrt(2) * np.eye(6)]), np.append(y, np.zeros(6))
    )
    np.testing.assert_allclose(model.coef_, longer.coef_, rtol=1e-10)


def test_ridge_is_the_elastic_net_without_l1():
    X, y = problem(4)
    other = ElasticNet(alpha=2.0 / 50, l1_ratio=0.0, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(Ridge(2.0).fit(X, y).coef_, other.coef_, rtol=1e-6)


def test_zero_penalty_is_least_squares_and_norms_fall():
    X, y = problem(5)
    np.testing.assert_allclose(Ridge(0.0).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)
    norms = [np.linalg.norm(Ridge(a).fit(X, y).coef_) for a in (0, 0.1, 1, 10, 1e3, 1e9)]
    assert np.all(np.diff(norms) < 0) and norms[-1] < 1e-6
    wide, target = problem(5, n=8, d=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smallest = LinearRegression().fit(wide, target)
    np.testing.assert_allclose(Ridge(1e-9).fit(wide, target).coef_, smallest.coef_, atol=1e-7)


@pytest.mark.parametrize("shape", [(50, 6), (10, 25)])
def test_radius_and_penalty_are_two_names_of_one_solution(shape):
    X, y = problem(6, *shape)
    penalized = Ridge(3.0).fit(X, y)
    radius = float(np.linalg.norm(penalized.coef_))
    constrained = Ridge(radius=radius).fit(X, y)
    assert constrained.multiplier_ == pytest.approx(3.0, rel=1e-9)
    np.testing.assert_allclose(constrained.coef_, penalized.coef_, rtol=1e-8)
    assert np.linalg.norm(constrained.coef_) <= radius
    constrained.verify(X, y)
    idle = Ridge(radius=1e6).fit(X, y)
    assert idle.multiplier_ == 0.0
    assert not Ridge(radius=0.0).fit(X, y).coef_.any()


def test_radius_agrees_with_a_cone_program():
    X, y = problem(7)
    w, b = cp.Variable(6), cp.Variable()
    best = cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w - b)), [cp.norm(w) <= 0.7]).solve(solver="CLARABEL")
    model = Ridge(radius=0.7).fit(X, y)
    assert ((y - model.predict(X)) ** 2).sum() == pytest.approx(best, rel=1e-7)
    assert model.dual_gap_ < 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1e4), st.booleans(), st.integers(3, 30))
def test_repeating_rows_is_weighting_them(seed, alpha, fit_intercept, d):
    rng = np.random.default_rng(seed)
    X, y, s = rng.standard_normal((15, d)), rng.standard_normal(15), rng.integers(0, 3, 15)
    s[0] = 1
    one = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, s)
    two = Ridge(alpha, fit_intercept=fit_intercept).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-7)
    one.verify(X, y, s)


# --- other people's answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 6), (10, 25)])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}, {"alpha": [0.5, 2.0, 8.0]}])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_agrees_with_scikit_learn(shape, options, container):
    X, Y = problem(8, *shape, targets=3)
    X[np.abs(X) < 1] = 0
    s = np.random.default_rng(0).uniform(0.5, 2, shape[0])
    ours = Ridge(**options).fit(container(X), Y, s)
    settings_ = {"solver": "lbfgs", "tol": 1e-13} if "positive" in options else {"solver": "cholesky"}
    other = theirs.Ridge(**options, **settings_).fit(X, Y, s)
    tolerance = 1e-3 if "positive" in options else 1e-9
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=tolerance)
    assert ours.verify(container(X), Y, s)["linear.gap"].level == "enclosed"

    def objective(model):
        W = model.coef_
        return (s[:, None] * (Y - model.predict(X)) ** 2).sum() + (np.asarray(ours.alpha) * (W**2).sum(axis=1)).sum()

    assert objective(ours) <= objective(other) * (1 + 1e-12)
    assert objective(other) >= objective(ours) * (1 - 1e-13) - ours.dual_gap_


def test_large_sparse_data_are_solved_by_iteration(monkeypatch):
    monkeypatch.setattr("surefit.solvers.least_squares.minimize.LARGEST_DENSE", 5)
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 20), density=0.3, rng=rng, format="csr")
    y = rng.standard_normal(60)
    model = Ridge(0.5).fit(X, y)
    assert "LSMR" in model.solver_ and model.n_iter_ > 1
    np.testing.assert_allclose(model.coef_, theirs.Ridge(0.5, solver="cholesky").fit(X.toarray(), y).coef_, atol=1e-8)
    assert model.dual_gap_ < 1e-12
    model.verify(X, y)


# --- choosing the penalty ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(25, 4), (12, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_leave_one_out_errors_are_those_of_refits(shape, fit_intercept, container):
    X, y = problem(9, *shape)
    alphas = np.array([0.1, 1.0, 10.0])
    model = RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True).fit(container(X), y)
    refits = np.empty((len(y), 3))
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        for a, alpha in enumerate(alphas):
            refits[i, a] = y[i] - Ridge(alpha, fit_intercept=fit_intercept).fit(X[keep], y[keep]).predict(X[[i]])[0]
    np.testing.assert_allclose(model.cv_results_, refits**2, rtol=1e-7)
    np.testing.assert_allclose(model.scores_, -(refits**2).mean(axis=0), rtol=1e-8)
    assert model.alpha_ == alphas[np.argmax(model.scores_)]
    other = theirs.RidgeCV(alphas, fit_intercept=fit_intercept).fit(X, y)
    assert model.alpha_ == other.alpha_ and model.best_score_ == pytest.approx(other.best_score_, rel=1e-8)
    model.verify(container(X), y)


def test_integer_weights_leave_one_copy_out():
    X, y = problem(10, n=15, d=3)
    s = np.random.default_rng(0).integers(0, 4, 15)
    weighted = RidgeCV(np.geomspace(0.1, 100, 5)).fit(X, y, s)
    repeated = RidgeCV(np.geomspace(0.1, 100, 5)).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-10)
    np.testing.assert_allclose(weighted.degrees_of_freedom_, repeated.degrees_of_freedom_, rtol=1e-10)


def test_generalized_cross_validation_is_its_formula():
    X, y = problem(11, n=30, d=4)
    model = RidgeCV([2.0], criterion="gcv").fit(X, y)
    Z = X - X.mean(axis=0)
    H = Z @ np.linalg.solve(Z.T @ Z + 2 * np.eye(4), Z.T) + 1 / 30
    r = y - H @ y
    assert model.best_score_ == pytest.approx(-np.mean(r**2) / (1 - np.trace(H) / 30) ** 2, rel=1e-10)
    assert model.degrees_of_freedom_[0] == pytest.approx(np.trace(H))


@pytest.mark.parametrize("options", [{"cv": 4}, {"cv": 4, "scoring": "r2"}, {"scoring": "neg_mean_absolute_error"}])
def test_other_criteria_agree_with_scikit_learn(options):
    X, y = load_diabetes(return_X_y=True)
    ours = RidgeCV([0.01, 0.1, 1.0], **options).fit(X, y)
    other = theirs.RidgeCV([0.01, 0.1, 1.0], **options).fit(X, y)
    assert ours.alpha_ == other.alpha_
    if "scoring" in options:
        assert ours.best_score_ == pytest.approx(other.best_score_, rel=1e-8)


def test_one_penalty_a_target():
    X, Y = problem(12, targets=3)
    Y[:, 1] = np.random.default_rng(0).standard_normal(50)
    ours = RidgeCV(np.geomspace(1e-2, 1e3, 6), alpha_per_target=True).fit(X, Y)
    other = theirs.RidgeCV(np.geomspace(1e-2, 1e3, 6), alpha_per_target=True).fit(X, Y)
    np.testing.assert_allclose(ours.alpha_, other.alpha_)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-8)
    ours.verify(X, Y)


def test_joint_mode_of_coefficients_and_variance():
    # minus twice the log posterior, up to a constant: (n + p) log v + (RSS + alpha |w|^2) / v, least at the stated variance
    X, y = problem(21)
    for options, penalized in (({"penalize_intercept": True}, 7), ({}, 6), ({"fit_intercept": False}, 6)):
        model = Ridge(3.0, **options).fit(X, y)
        squares = np.sum((y - model.predict(X)) ** 2)
        w = np.append(model.coef_, model.intercept_) if penalized == 7 else model.coef_
        penalty = squares + 3 * w @ w
        assert model.joint_variance_ == pytest.approx(penalty / (50 + penalized), rel=1e-10)

        def posterior(v, penalty=penalty, count=50 + penalized):
            return count * np.log(v) + penalty / v

        at = posterior(model.joint_variance_)
        assert at <= min(posterior(model.joint_variance_ * f) for f in (0.9, 0.99, 1.01, 1.1))


def test_joint_variance_of_weights_and_several_targets():
    X, Y = problem(22, targets=2)
    s = np.arange(50) % 3
    weighted, repeated = (
        Ridge(2.0).fit(X, Y, sample_weight=s),
        Ridge(2.0).fit(np.repeat(X, s, axis=0), np.repeat(Y, s, axis=0)),
    )
    assert weighted.joint_variance_ == pytest.approx(repeated.joint_variance_, rel=1e-10)
    assert weighted.joint_variance_.shape == (2,)
    assert not hasattr(weighted.set_params(alpha=0.0).fit(X, Y), "joint_variance_")
    assert not hasattr(Ridge(radius=1.0).fit(X, Y), "joint_variance_")


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (Ridge(-1.0), "alpha"),
        (Ridge([1.0, 2.0, 3.0]), "alpha"),
        (Ridge(radius=1.0, positive=True), "radius"),
        (Ridge(penalize_intercept=True, positive=True), "positive"),
        (RidgeCV([1.0, -1.0]), "alphas"),
        (RidgeCV(cv=3, store_cv_results=True), "cv"),
    ],
)
def test_refusals_name_the_parameter(model, word):
    X, y = problem(13)
    with pytest.raises(InvalidParameter, match=word):
        model.fit(X, y)


def test_a_wrong_claim_is_found_out():
    X, y = problem(14)
    model = Ridge(1.0).fit(X, y)
    certificate = model.certificate_
    model.coef_ = model.coef_ * (1 + 1e-4)
    model._issue("A", list(certificate.claims), problem=certificate.problem, model=("coef_", "intercept_"),
                 data=certificate.data)  # fmt: skip
    with pytest.raises(CertificateError, match=r"linear\.gap"):
        model.verify(X, y)
