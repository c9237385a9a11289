"""Paths and cross-validation: every solution has its gap; the choice is scikit-learn's, and the one-standard-error rule's."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, TimeSeriesSplit

from surefit import ElasticNetCV, Lasso, LassoCV, enet_path, lasso_path
from surefit.core.errors import ConvergenceWarning, SurefitError


@pytest.fixture
def seconds_are_checks(monkeypatch):
    """Let every reading of a budget's clock take a second, so that max_time counts checks on any machine."""
    monkeypatch.setattr("surefit.core.budget.time", SimpleNamespace(perf_counter=count().__next__))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 120))
    return X, X[:, :6] @ np.array([3.0, -2.0, 1.5, 0.5, -1.0, 2.0]) + 0.5 * rng.standard_normal(80)


def test_the_path_is_scikit_learns(data):
    X, y = data
    alphas, coefs, gaps = lasso_path(X, y, alphas=30, eps=1e-2, tol=1e-12)
    other_alphas, other, _ = theirs.lasso_path(X, y, alphas=30, eps=1e-2, tol=1e-13, max_iter=10**5)
    np.testing.assert_allclose(alphas, other_alphas, rtol=1e-12)
    np.testing.assert_allclose(coefs, other, atol=1e-5)
    assert not coefs[:, 0].any() and gaps[0] == 0.0
    assert np.all(gaps <= 1e-12 * y @ y / 160)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_each_point_of_the_path_is_its_own_fit(data, container):
    X, y = data
    factors = np.linspace(0.5, 2, 120)
    weights = np.linspace(0.1, 1, 80)
    alphas, coefs, _gaps, n_iters = enet_path(
        container(X), y, l1_ratio=0.8, alphas=[0.5, 0.1, 0.02], fit_intercept=True, sample_weight=weights,
        penalty_factors=factors, tol=1e-12, return_n_iter=True,
    )  # fmt: skip
    assert len(n_iters) == 3
    from surefit import ElasticNet

    for alpha, coef in zip(alphas, coefs.T, strict=True):
        single = ElasticNet(alpha=alpha, l1_ratio=0.8, penalty_factors=factors, tol=1e-12).fit(
            X, y, sample_weight=weights
        )
        np.testing.assert_allclose(coef, single.coef_, atol=1e-5)


def test_every_gap_of_a_path_is_honest(data):
    X, y = data
    alphas, coefs, gaps = lasso_path(X, y, alphas=40, eps=1e-2, tol=1e-3)
    for alpha, w, gap in zip(alphas, coefs.T, gaps, strict=True):
        r = y - X @ w
        scale = min(1.0, 80 * alpha / np.max(np.abs(X.T @ r)))
        dual = (scale * r @ y - scale**2 * r @ r / 2) / 80
        best = Lasso(alpha=alpha, fit_intercept=False, tol=1e-13, max_iter=10**5).fit(X, y)
        optimum = np.sum((y - X @ best.coef_) ** 2) / 160 + alpha * np.abs(best.coef_).sum()
        primal = r @ r / 160 + alpha * np.abs(w).sum()
        assert primal - optimum <= gap + 1e-12
        assert gap <= primal - dual + 1e-12


def test_complexity_and_loss_are_monotone_along_the_path(data):
    X, y = data
    _, coefs, _ = lasso_path(X, y, alphas=50, tol=1e-9)
    norms = np.abs(coefs).sum(axis=0)
    losses = ((y[:, None] - X @ coefs) ** 2).sum(axis=0)
    assert np.all(np.diff(norms) >= -1e-6 * norms[-1]) and np.all(np.diff(losses) <= 1e-6 * losses[0])


@pytest.mark.usefixtures("seconds_are_checks")
def test_a_path_cut_short_returns_what_it_reached():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 600))
    y = X[:, :20].sum(axis=1) + rng.standard_normal(150)
    with pytest.warns(ConvergenceWarning, match=r"path: stopped after \d+ of 2000 alphas: max_time was reached"):
        alphas, coefs, gaps = lasso_path(X, y, alphas=2000, eps=1e-5, tol=1e-12, max_time=100)
    assert 1 <= len(alphas) == coefs.shape[1] == len(gaps) < 2000
    model = Lasso(alpha=alphas[-1], fit_intercept=False, tol=1e-3)
    model.coef_, model.n_features_in_ = coefs[:, -1], 600
    primal = np.sum((y - X @ model.coef_) ** 2) / 300 + alphas[-1] * np.abs(model.coef_).sum()
    best = Lasso(alpha=alphas[-1], fit_intercept=False, tol=1e-8).fit(X, y)
    optimum = np.sum((y - X @ best.coef_) ** 2) / 300 + alphas[-1] * np.abs(best.coef_).sum()
    assert primal - optimum <= gaps[-1] + best.dual_gap_


def test_constant_target_and_given_alphas(data):
    X, _ = data
    _, coefs, gaps = lasso_path(X, np.zeros(80), alphas=5)
    assert not coefs.any() and not gaps.any()
    with pytest.raises(ValueError, match="alphas must be a count or a list of finite numbers >= 0"):
        lasso_path(X, np.ones(80), alphas=[1.0, -1.0])
    with pytest.raises(ValueError, match="alphas must be given explicitly when l1_ratio=0"):
        enet_path(X, np.ones(80), l1_ratio=0.0)


# --- cross-validation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_scikit_learns(weighted):
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    ours = LassoCV(alphas=25, tol=1e-10).fit(X, y, sample_weight=weights)
    other = theirs.LassoCV(alphas=25, tol=1e-12, max_iter=10**5).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.alphas_, other.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, other.mse_path_, rtol=1e-6)
    assert ours.alpha_ == pytest.approx(other.alpha_)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-3)
    ours.verify(X, y, sample_weight=weights)


def test_one_standard_error_rule_takes_the_sparsest_model_as_good_as_the_best():
    X, y = load_diabetes(return_X_y=True)
    model = LassoCV(alphas=50, rule="1se", cv=KFold(10, shuffle=True, random_state=0)).fit(X, y)
    means, deviations = model.mse_path_.mean(axis=1), model.mse_path_.std(axis=1, ddof=1) / np.sqrt(10)
    best = np.argmin(means)
    chosen = np.flatnonzero(model.alphas_ == model.alpha_)[0]
    assert means[chosen] <= means[best] + deviations[best]
    assert chosen == 0 or means[chosen - 1] > means[best] + deviations[best]


def test_several_ratios_and_threads_give_the_same_bits():
    X, y = load_diabetes(return_X_y=True)
    runs = [ElasticNetCV(l1_ratio=[0.2, 0.9], alphas=10, n_jobs=n).fit(X, y) for n in (None, 2, 4)]
    assert runs[0].mse_path_.shape == (2, 10, 5) and runs[0].l1_ratio_ in (0.2, 0.9)
    for run in runs[1:]:
        np.testing.assert_array_equal(run.mse_path_, runs[0].mse_path_)
        np.testing.assert_array_equal(run.coef_, runs[0].coef_)


def test_no_time_at_all_is_a_clear_error():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(SurefitError, match="LassoCV: the fit ended before.*increase max_time"):
        LassoCV(max_time=1e-9).fit(X, y)


def test_folds_need_not_be_complements():
    X, y = load_diabetes(return_X_y=True)
    splits = list(TimeSeriesSplit(3).split(X))
    ours = LassoCV(alphas=8, cv=splits, tol=1e-10).fit(X, y)
    other = theirs.LassoCV(alphas=8, cv=splits, tol=1e-12, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_, other.mse_path_, rtol=1e-6)


@pytest.mark.usefixtures("seconds_are_checks")
@pytest.mark.parametrize("checks", [100, 250, 1000])
def test_whenever_time_runs_out_the_weights_compared_so_far_are_used(checks):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 300))
    y = X[:, :40].sum(axis=1) + rng.standard_normal(150)
    model = LassoCV(alphas=3000, eps=1e-4, tol=1e-10, max_time=checks, n_jobs=2).fit(X, y)
    assert 1 <= len(model.alphas_) < 3000 and model.mse_path_.shape == (len(model.alphas_), 5)
    assert np.isfinite(model.mse_path_).all() and model.alpha_ in model.alphas_
    model.verify(X, y)
