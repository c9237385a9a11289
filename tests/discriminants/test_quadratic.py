"""Quadratic discriminant analysis: numbers by hand, likelihood, scikit-learn, weights."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn.discriminant_analysis as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, load_wine

from surefit import QuadraticDiscriminantAnalysis
from surefit.checks.discriminants.quadratic import likelihood
from surefit.core.errors import CertificateError, DataWarning, InvalidData, InvalidParameter
from surefit.core.sample import read

SETTINGS = [
    {"tol": 1e-6},
    {"reg_param": 0.1},
    {"priors": [0.2, 0.3, 0.5], "tol": 1e-6, "store_covariance": True},
    {"solver": "eigen", "tol": 1e-6, "store_covariance": True},
    {"solver": "eigen", "shrinkage": 0.2},
    {"solver": "eigen", "shrinkage": "auto", "tol": 1e-6},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


def test_two_variances_on_a_line_by_hand():
    # variances (divisor n) 1 and 4, means 0 and 3: log-odds = -(x-3)^2/8 + x^2/2 - log 2
    X, y = np.array([[-1.0], [1.0], [1.0], [5.0]]), np.array([0, 0, 1, 1])
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    x = np.linspace(-6, 6, 13)
    assert model.decision_function(x[:, None]) == pytest.approx(-((x - 3) ** 2) / 8 + x**2 / 2 - np.log(2))
    assert np.array(model.scalings_) == pytest.approx(np.array([[1.0], [4.0]]))


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_agrees_with_scikit_learn(load, options):
    X, y = load(return_X_y=True)
    ours = QuadraticDiscriminantAnalysis(**options).fit(X, y)
    reference = theirs.QuadraticDiscriminantAnalysis(**options).fit(X, y)
    scores = reference.decision_function(X)
    assert ours.decision_function(X) == pytest.approx(scores, rel=1e-7, abs=1e-8 * np.abs(scores).max())
    assert ours.predict_proba(X) == pytest.approx(reference.predict_proba(X), abs=1e-7)
    for mine, other in zip(ours.scalings_, reference.scalings_, strict=True):
        assert mine == pytest.approx(other, rel=1e-7)
    if hasattr(reference, "covariance_"):
        for mine, other in zip(ours.covariance_, reference.covariance_, strict=True):
            assert mine == pytest.approx(other, rel=1e-7, abs=1e-9)
    assert ours.certificate_.holds
    assert ours.verify(X, y)["quadratic.likelihood"].proved <= 1e-9


def test_no_gaussian_densities_are_likelier():
    X, y = load_iris(return_X_y=True)
    model = QuadraticDiscriminantAnalysis(tol=1e-6, store_covariance=True).fit(X, y)

    def likelihood(means, covariances):
        return sum(multivariate_normal(means[k], covariances[k]).logpdf(X[y == k]).sum() for k in range(3))

    best = likelihood(model.means_, model.covariance_)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        A = np.eye(4) + size * rng.standard_normal((4, 4))
        moved = [A @ C @ A.T for C in model.covariance_]
        assert likelihood(model.means_, moved) < best
        assert likelihood(model.means_ + size * rng.standard_normal((3, 4)), model.covariance_) < best


def test_gap_bounds_the_loss_of_likelihood():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 3)), np.arange(100) % 2
    certificate = QuadraticDiscriminantAnalysis(tol=0.0).fit(X, y).certificate_
    for factor in (0.9, 0.99, 1.01, 1.1):
        lost = (
            100 / 2 * 3 * (1 / factor - 1 + np.log(factor))
        )  # of Gaussian densities whose variances are all that much too large
        changed = {**certificate.model, "scalings_": certificate.model["scalings_"] * factor}
        found = likelihood(replace(certificate, model=changed, seal=""), certificate.claims[0], read(X, y)).value
        assert lost <= found <= 1.5 * lost


@given(st.lists(st.integers(0, 3), min_size=36, max_size=36))
@settings(max_examples=10)
@pytest.mark.parametrize("options", SETTINGS[:6], ids=str)
def test_weights_are_repetitions(options, weights):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((36, 2)), np.arange(36) % 3
    weights = np.array([max(w, 1) if i < 18 else w for i, w in enumerate(weights)])
    weighted = QuadraticDiscriminantAnalysis(**options).fit(X, y, sample_weight=weights)
    repeated = QuadraticDiscriminantAnalysis(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.predict_log_proba(X) == pytest.approx(repeated.predict_log_proba(X), rel=1e-7, abs=1e-8)
    weighted.verify(X, y, sample_weight=weights)


def test_flat_classes_get_the_least_variance_and_a_remark():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(DataWarning, match="raised to it. Raise reg_param"):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert min(s.min() for s in model.scalings_) == 1e-4
    model.verify(X, y)
    with pytest.raises(InvalidData, match="singular; raise shrinkage or tol"):
        QuadraticDiscriminantAnalysis(solver="eigen", tol=0.0).fit(np.zeros((6, 2)), [0, 0, 0, 1, 1, 1])


def test_sparse_rows_and_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, y = np.round(rng.standard_normal((200, 3)) * 2**20) / 2**20, np.arange(200) % 2
    X[:, 0] += y
    X[np.abs(X) < 0.3] = 0.0
    dense = QuadraticDiscriminantAnalysis().fit(X, y)
    thin = QuadraticDiscriminantAnalysis().fit(sparse.csr_array(X), y)
    assert thin.decision_function(sparse.csr_array(X)) == pytest.approx(dense.decision_function(X), rel=1e-9, abs=1e-10)
    thin.verify(sparse.csr_array(X), y)
    far = QuadraticDiscriminantAnalysis().fit(X + 2.0**20, y)
    assert far.decision_function(X + 2.0**20) == pytest.approx(dense.decision_function(X), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shrinkage": 0.1}, "'eigen' with shrinkage"),
        ({"covariance_estimator": OAS()}, "'eigen' with covariance_estimator"),
        ({"solver": "lsqr"}, "solver must be one of 'svd', 'eigen'"),
    ],
    ids=str,
)
def test_contradictions_are_refused(options, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match=words):
        QuadraticDiscriminantAnalysis(**options).fit(X, y)


def sample(kind):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 4))
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(60) > 0).astype(int)
    if kind == "columns apart":
        return X * 10.0 ** np.array([-6, -2, 2, 6]), y
    return np.vstack([X, np.full(4, 1e9)]), np.append(y, 1)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("options", [{}, {"tol": 0.0}, {"reg_param": 1e-9}, {"solver": "eigen"}], ids=str)
@pytest.mark.parametrize("kind", ["columns apart", "outlier"])
def test_variances_that_products_of_rows_cannot_hold(kind, options):
    X, y = sample(kind)
    model = QuadraticDiscriminantAnalysis(**options).fit(X, y)
    assert model.certificate_["quadratic.likelihood"].value < 1e-6 * len(X)
    assert model.verify(X, y)["quadratic.likelihood"].level == "enclosed"


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("options", [{"shrinkage": "auto"}, {"covariance_estimator": OAS()}], ids=str)
def test_shrunk_covariances_of_columns_far_apart(options):
    X, y = sample("columns apart")
    model = QuadraticDiscriminantAnalysis(solver="eigen", **options).fit(X, y)
    assert model.certificate_["quadratic.likelihood"].value < 1e-6 * len(X)
    assert model.verify(X, y)["quadratic.likelihood"].ok


def test_the_small_variances_beside_a_row_far_away():
    # rows (t, -t), t = -1, 1, each twice, and (c, c) added: across the diagonal the variance is (4 * 2) / 5, by hand
    X = np.array([[1.0, -1.0], [-1.0, 1.0]] * 2 + [[2.0**30, 2.0**30]] + [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    y = np.array([0] * 5 + [1] * 3)
    model = QuadraticDiscriminantAnalysis(tol=1e-6).fit(X, y)
    assert model.scalings_[0][1] == pytest.approx(8 / 5, rel=1e-6)
    assert model.verify(X, y)["quadratic.likelihood"].ok


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("kind", ["columns apart", "outlier"])
@pytest.mark.parametrize("factor", [1.05, 0.95])
@pytest.mark.parametrize("place", [0, 3])
def test_variances_made_wrong_are_found(kind, factor, place):
    X, y = sample(kind)
    certificate = QuadraticDiscriminantAnalysis().fit(X, y).certificate_
    scalings = np.array(certificate.model["scalings_"])
    scalings[0][place] *= factor
    tampered = replace(certificate, model={**certificate.model, "scalings_": scalings}, seal="", subject=None)
    with pytest.raises(CertificateError, match=r"quadratic\.likelihood"):
        tampered.verify(X, y)
