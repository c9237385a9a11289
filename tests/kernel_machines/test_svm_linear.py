"""Linear kernels on many rows: fitted by columns, and in every respect the machine that working sets give."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC as Reference

from surefit import SVC, SVR
from surefit.checks.kernels import operator as checks
from surefit.core.errors import CertificateError
from surefit.core.issuing.state import dense
from surefit.kernels import Linear
from surefit.solvers.smo import minimize as module


def sample(seed=0, n=650, d=4, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    score = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    return X, score, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def route(model):
    return model.certificate_.run["solver"]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_same_machine_by_either_route(monkeypatch, kind, intercept):
    X, _, labels = sample()
    weights = np.random.default_rng(1).uniform(0.0, 2.0, len(labels))
    weights[::50] = 0.0
    make = {"kernel": "linear", "tol": 1e-9, "class_weight": {0: 1.0, 1: 2.0}, "fit_intercept": intercept}
    fast = SVC(**make).fit(kind(X), labels, weights)
    monkeypatch.setattr(module, "other_strategies", lambda *_: [])
    slow = SVC(**make).fit(kind(X), labels, weights)
    assert route(fast).startswith("Newton") and route(slow).startswith("working sets")
    assert fast.objective_ == pytest.approx(slow.objective_, rel=2e-9)
    assert dense(fast.coef_) == pytest.approx(dense(slow.coef_), abs=np.sqrt(8e-9 * slow.objective_))
    assert fast.intercept_interval_ == pytest.approx(slow.intercept_interval_, abs=1e-3)
    assert np.mean(fast.points_ == slow.points_) > 0.99
    assert abs(len(fast.support_) - len(slow.support_)) <= 5
    finding = fast.verify(kind(X), labels, sample_weight=weights)["svc.gap"]
    assert finding.ok and finding.level == "enclosed"
    assert not np.any(np.isin(fast.support_, np.flatnonzero(weights == 0.0)))


def test_pairs_of_classes_in_the_layout_of_scikit_learn():
    X, _, labels = sample(2, n=1200, classes=3)
    ours = SVC(kernel=Linear(), tol=1e-7).fit(X, labels)
    theirs = Reference(kernel="linear", tol=1e-6).fit(X, labels)
    assert route(ours).startswith("Newton")
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=2e-3)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=2e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995
    assert ours.verify(X, labels)["svc.gap"].ok


def test_tubes_by_either_route(monkeypatch):
    X, score, _ = sample(3)
    fast = SVR(kernel="linear", epsilon=0.2, tol=1e-9).fit(X, score)
    monkeypatch.setattr(module, "other_strategies", lambda *_: [])
    slow = SVR(kernel="linear", epsilon=0.2, tol=1e-9).fit(X, score)
    assert route(fast).startswith("Newton") and fast.objective_ == pytest.approx(slow.objective_, rel=2e-9)
    assert fast.coef_ == pytest.approx(slow.coef_, abs=1e-4) and np.mean(fast.points_ == slow.points_) > 0.99
    assert fast.verify(X, score)["svr.gap"].level == "enclosed"


def test_warm_start_goes_on_from_the_last_vector():
    X, _, labels = sample(4)
    model = SVC(kernel="linear", warm_start=True, tol=1e-6).fit(X, labels)
    model.fit(X, labels)
    assert model.n_iter_.tolist() == [0] and model.dual_gap_ <= 1e-6 * model.objective_


def test_columns_of_very_different_size():
    X, _, labels = sample(5)
    model = SVC(kernel="linear", C=1e-3).fit(X * np.array([1e4, 1.0, 1.0, 1e-4]), labels)
    assert model.certificate_.holds and model.dual_gap_ <= 1e-3 * model.objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_prices_that_wear_out_pairs():
    # contradictory twins at a high price: the optimum is that of a linear program, with the norm as a tie-break
    X, _, labels = sample(6, n=400)
    Z, t = np.vstack([X, X[:100]]), np.concatenate([labels, 1 - labels[:100]])
    model = SVC(kernel="linear", C=1e5).fit(Z, t)
    assert model.dual_gap_ <= 1e-3 * model.objective_ and model.slack_.sum() >= 2 * 100 - 1e-6


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_scores_by_columns_are_enclosed(kind):
    # exact scores, in rational numbers; coefficients that cancel most of their digits
    rng = np.random.default_rng(7)
    A = 1e4 * rng.standard_normal((30, 3)) * (rng.random((30, 3)) < 0.7)
    beta = 1e3 * rng.standard_normal((30, 1))
    beta[-1] -= beta.sum()
    scores = checks._linear_times(kind(A), kind(A), beta)
    weights = [sum(Fraction(A[i, j]) * Fraction(beta[i, 0]) for i in range(30)) for j in range(3)]
    for i in range(30):
        exact = sum(Fraction(A[i, j]) * weights[j] for j in range(3))
        assert abs(exact - Fraction(scores.mid[i, 0])) <= Fraction(scores.rad[i, 0])
        assert scores.rad[i, 0] <= 1e-12 * np.abs(A[i]) @ np.abs(A).T @ np.abs(beta[:, 0])


def test_a_wrong_coefficient_is_found_by_columns():
    X, _, labels = sample(8)
    certificate = SVC(kernel="linear", tol=1e-8).fit(X, labels).certificate_
    assert certificate.verify(X, labels)["svc.gap"].ok
    moved = certificate.model["dual_coef_"].copy()
    moved[0, 0] *= 0.5
    with pytest.raises(CertificateError, match=r"svc\.gap"):
        replace(certificate, model={**certificate.model, "dual_coef_": moved}, seal="", subject=None).verify(X, labels)
