"""The estimate of the error on new rows that comes with a regression, against the hat matrix written out."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from surefit import BayesianLinearRegression, ElasticNet, Lasso, LinearRegression, Ridge
from surefit.checks.linear import error_estimate


def of_hat_matrix(model, X, y, H):
    return np.mean((y - model.predict(X)) ** 2) / (1 - np.trace(H) / len(y)) ** 2


def ridge_hat(Z, alpha):
    return Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("rows", [442, 8], ids=["more rows", "more columns"])
@pytest.mark.parametrize("alpha", [0.03, 2.0])
@pytest.mark.parametrize("offset", ["free", "penalized", "none"])
def test_ridge(diabetes, rows, alpha, offset):
    X, y = diabetes[0][:rows], diabetes[1][:rows]
    model = Ridge(alpha=alpha, fit_intercept=offset != "none", penalize_intercept=offset == "penalized").fit(X, y)
    Z = {"free": X - X.mean(axis=0), "penalized": np.column_stack([X, np.ones(rows)]), "none": X}[offset]
    H = ridge_hat(Z, alpha) + (np.full((rows, rows), 1 / rows) if offset == "free" else 0.0)
    claim = model.certificate_["estimates.gcv"]
    assert claim.value == pytest.approx(of_hat_matrix(model, X, y, H), rel=1e-9) and claim.kind == "estimate"


def test_ridge_of_dependent_columns_takes_another_route(diabetes):
    X, y = np.column_stack([diabetes[0], diabetes[0][:, 0]]), diabetes[1]
    model = Ridge(alpha=1e-13).fit(X, y)
    assert "QR" in model.solver_
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:10] ** 2  # the eleventh direction has no data
    degrees_of_freedom = 1 + np.sum(squares / (squares + 1e-13))
    expected = np.mean((y - model.predict(X)) ** 2) / (1 - degrees_of_freedom / len(y)) ** 2
    assert model.certificate_["estimates.gcv"].value == pytest.approx(expected, rel=1e-9)


def test_a_gaussian_prior_is_a_ridge(diabetes):
    X, y = diabetes
    model = BayesianLinearRegression(noise_variance=3000.0, prior_variance=1e5).fit(X, y)
    Z = np.column_stack([np.ones(len(y)), X])
    expected = of_hat_matrix(model, X, y, ridge_hat(Z, 3000.0 / 1e5))
    assert model.certificate_["estimates.gcv"].value == pytest.approx(expected, rel=1e-9)


def test_least_squares_and_its_leave_one_out_errors(diabetes):
    X, y = diabetes
    model = LinearRegression().fit(X, y)
    value = model.certificate_["estimates.gcv"].value
    assert value == pytest.approx(np.mean((y - model.predict(X)) ** 2) / (1 - 11 / 442) ** 2, rel=1e-12)
    assert value == pytest.approx(np.mean(model.leave_one_out(X, y) ** 2), rel=0.01)  # leverages are nearly alike here


@pytest.mark.parametrize(
    "model", [Lasso(alpha=0.5), ElasticNet(alpha=0.01, l1_ratio=0.7)], ids=["lasso", "elastic net"]
)
def test_sparse_models_count_the_features_in_use(diabetes, model):
    X, y = diabetes
    model.fit(X, y)
    degrees_of_freedom = np.count_nonzero(model.coef_) + 1
    expected = np.mean((y - model.predict(X)) ** 2) / (1 - degrees_of_freedom / 442) ** 2
    assert 1 < degrees_of_freedom < 11 + (model.alpha < 0.1) and model.certificate_[
        "estimates.gcv"
    ].value == pytest.approx(expected)


def test_targets_are_averaged_and_factors_are_taken_out(diabetes):
    X, y = diabetes
    both = Ridge(alpha=1.0).fit(X, np.column_stack([y, 2 * y])).certificate_["estimates.gcv"].value
    assert both == pytest.approx(2.5 * Ridge(alpha=1.0).fit(X, y).certificate_["estimates.gcv"].value, rel=1e-12)
    factors = np.r_[np.inf, np.linspace(0.5, 2.0, 9)]
    model = Lasso(alpha=0.5, penalty_factors=factors).fit(X, y)
    expected = np.mean((y - model.predict(X)) ** 2) / (1 - (np.count_nonzero(model.coef_) + 1) / 442) ** 2
    assert model.certificate_["estimates.gcv"].value == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize(
    ("model", "rows", "weighted"),
    [(LinearRegression(), 9, False), (Ridge(radius=1.0), 50, False), (Ridge(), 50, True), (Lasso(), 50, True)],
    ids=["interpolates", "radius", "ridge with weights", "lasso with weights"],
)
def test_silence_where_residuals_say_nothing_or_rows_count_unequally(diabetes, model, rows, weighted):
    X, y = diabetes[0][:rows], diabetes[1][:rows]
    model.fit(X, y, sample_weight=np.linspace(1, 2, rows) if weighted else None)
    assert "estimates.gcv" not in [claim.name for claim in model.certificate_.claims]


def test_independent_columns_of_least_squares_are_known_from_the_gap(monkeypatch):
    """The dual point of the gap proves that the columns are independent, so no eigenvalues are computed."""
    monkeypatch.setattr(error_estimate, "spectrum", None)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    model = LinearRegression().fit(X, X @ [1.0, -2.0, 0.5] + rng.normal(size=40))
    claim = model.certificate_["estimates.gcv"]
    residual_variance = model.sigma2_ / (1 - 4 / 40) ** 2
    assert claim.numbers["degrees_of_freedom"] == 4.0 and claim.value == pytest.approx(residual_variance, rel=1e-12)
