"""Kernel machines of LIBSVM: excess against cvxpy, offsets by hand, labels against exact fits, nu, refusals."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefit import CertificateError, DataWarning, Invalidated, InvalidData, InvalidParameter, certify
from surefit.checks.audits.machines import intercepts_of
from surefit.checks.kernels.machines import Machine

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:150], Y[:150]
WINE = load_wine(return_X_y=True)
WINE = (StandardScaler().fit_transform(WINE[0]), WINE[1])
WEIGHTS = np.random.default_rng(0).random(150)


def fitted(model, X, y, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=sample_weight)


def optimum(K, losses_of):
    """Smallest objective over all functions in the span of the rows."""
    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    v, b = cp.Variable(len(K)), cp.Variable()
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + losses_of(root @ v + b))).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_an_unconverged_classifier_is_told_its_excess(weights):
    model = fitted(svm.SVC(max_iter=20, C=2.0, class_weight={0: 1.0, 1: 3.0}), X, Y, weights)
    certificate = certify(model, X, Y, weights)
    t = np.where(Y == 1, 1.0, -1.0)
    c = 2.0 * np.where(Y == 1, 3.0, 1.0) * (1.0 if weights is None else weights)
    best = optimum(rbf_kernel(X, gamma=model._gamma), lambda f: c @ cp.pos(1 - cp.multiply(t, f)))
    claim = certificate["audit.svm_gap"]
    assert certificate.holds is False
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-4)
    certificate.verify(X, Y, weights)


def test_an_unconverged_regression_is_told_its_excess():
    rows, y = load_diabetes(return_X_y=True)
    rows, y = rows[:120], y[:120]
    model = fitted(svm.SVR(C=20.0, epsilon=10.0, max_iter=20), rows, y)
    certificate = certify(model, rows, y)
    best = optimum(rbf_kernel(rows, gamma=model._gamma), lambda f: 20.0 * cp.sum(cp.pos(cp.abs(y - f) - 10.0)))
    claim = certificate["audit.svm_gap"]
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-4)
    exact = svm.SVR(C=20.0, epsilon=10.0, tol=1e-9).fit(rows, y)
    off = np.max(np.abs(exact.predict(rows) - model.predict(rows)))
    assert off <= certificate["audit.svm_predictions"].value <= 1.5 * off + 1e-3
    certificate.verify(rows, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_converged_classifier_has_a_tiny_gap(kernel):
    model = svm.SVC(kernel=kernel, tol=1e-10).fit(*WINE)
    certificate = certify(model, *WINE)
    assert certificate.holds
    # LIBSVM keeps kernel values as float32, so that no tolerance makes it exact
    assert certificate["audit.svm_gap"].value <= 1e-6 * certificate["audit.svm_gap"].numbers["objective"]
    assert certificate["audit.svm_labels"].value == 0
    certificate.verify(*WINE)


def test_labels_in_doubt_cover_those_that_the_optimum_changes():
    early, exact = fitted(svm.SVC(max_iter=5), X, Y), svm.SVC(tol=1e-10).fit(X, Y)
    changed = int(np.sum(early.predict(X) != exact.predict(X)))
    assert 0 < changed == certify(early, X, Y)["audit.svm_labels"].value
    rows, y = WINE
    early, exact = fitted(svm.SVC(max_iter=3), rows, y), svm.SVC(tol=1e-10).fit(rows, y)
    assert 0 < np.sum(early.predict(rows) != exact.predict(rows)) <= certify(early, rows, y)["audit.svm_labels"].value


@pytest.mark.parametrize("data", [(X, Y), WINE], ids=["two classes", "three classes"])
def test_nu_is_a_price(data):
    model = svm.NuSVC(nu=0.2, tol=1e-9).fit(*data)
    certificate = certify(model, *data)
    claim = certificate["audit.svm_gap"]
    assert claim.value <= 1e-6 * claim.numbers["objective"]
    if len(model.classes_) == 2:
        price = np.abs(model.dual_coef_).sum() / (0.2 * len(data[1]))
        same = svm.SVC(C=price, tol=1e-9).fit(*data)
        np.testing.assert_allclose(same.decision_function(data[0]), model.decision_function(data[0]), atol=1e-5)
        assert claim.numbers["objective"] == pytest.approx(
            certify(same, *data)["audit.svm_gap"].numbers["objective"], rel=1e-6
        )
    certificate.verify(*data)


def test_offsets_by_hand():
    """Scores -1, 0 of the negative and 0, 3 of the positive class, price 1: every offset from -1 to 1 has the loss 2."""
    t, f = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 0.0, 0.0, 3.0])
    m = Machine(np.arange(4), t, np.minimum(t, 0.0), np.maximum(t, 0.0), 0.0, np.zeros(4), 0.0, True)
    grid = np.linspace(-3.0, 3.0, 601)
    losses = np.maximum(1 - t * (f + grid[:, None]), 0.0).sum(axis=1)
    best = grid[losses <= losses.min() + 1e-9]
    low, high = intercepts_of(m, f, np.zeros(4))
    assert (low, high) == pytest.approx((best.min(), best.max()))
    wider = intercepts_of(m, f, np.full(4, 0.25))
    assert wider == pytest.approx((low - 0.25, high + 0.25))


def test_sparse_rows_pipelines_and_kernels_that_are_none():
    wide = sparse.csr_array(X)
    model = fitted(svm.SVC(max_iter=20, gamma=0.03), wide, Y)
    dense = fitted(svm.SVC(max_iter=20, gamma=0.03), X, Y)
    gap = certify(model, wide, Y)
    gap.verify(wide, Y)
    assert gap["audit.svm_gap"].value == pytest.approx(certify(dense, X, Y)["audit.svm_gap"].value, rel=1e-6)
    whole = make_pipeline(StandardScaler(), svm.SVC(tol=1e-9)).fit(X, Y)
    assert certify(whole, X, Y).verify(X, Y)["audit.svm_gap"].proved < 1e-5
    with pytest.warns(DataWarning, match="not positive semidefinite"):
        certificate = certify(svm.SVC(kernel="sigmoid").fit(X, Y), X, Y)
    assert certificate.grade == "B"
    assert [claim.kind for claim in certificate.claims] == ["stationarity", "no_claim"]
    with pytest.warns(DataWarning):
        certificate.verify(X, Y)
    with pytest.raises(InvalidParameter, match="kernel"):
        certify(svm.SVC(kernel=rbf_kernel).fit(X, Y), X, Y)


def test_tampering_is_refused():
    model = fitted(svm.SVC(max_iter=20), X, Y)
    certificate = certify(model, X, Y)
    honest = certificate["audit.svm_gap"]
    forged = replace(certificate, claims=(replace(honest, value=0.5 * honest.value), *certificate.claims[1:]), seal="")
    with pytest.raises(CertificateError, match="svm_gap"):
        forged.verify(X, Y)
    with pytest.raises(InvalidData, match="outside their box"):
        certify(fitted(svm.SVC(max_iter=20), X, Y, np.full(150, 3.0)), X, Y)
    model.dual_coef_[0, 0] *= 0.5
    with pytest.raises(Invalidated, match="dual_coef_ was changed"):
        certificate.verify(X, Y)


@pytest.mark.parametrize(
    "options", [{"max_iter": 5}, {"tol": 0.5}, {"nu": 0.2, "tol": 1e-9}], ids=["early", "rough", "exact"]
)
def test_a_tube_of_free_width_against_cvxpy(options):
    rows, y = load_diabetes(return_X_y=True)
    rows, y, C = rows[:60] * 10, y[:60], 20.0
    model = fitted(svm.NuSVR(gamma=0.5, C=C, **options), rows, y)
    certificate = certify(model, rows, y)
    K = rbf_kernel(rows, gamma=0.5)
    u, b, width = cp.Variable(60), cp.Variable(), cp.Variable(nonneg=True)
    scores = np.linalg.cholesky(K + 1e-10 * np.eye(60)) @ u + b
    loss = model.nu * 60 * width + cp.sum(cp.pos(cp.abs(y - scores) - width))
    best = cp.Problem(cp.Minimize(cp.sum_squares(u) / 2 + C * loss)).solve(solver=cp.CLARABEL)
    claim = certificate["audit.svm_gap"]
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-4, abs=1e-4)
    assert certificate.holds is ("tol" in options and options["tol"] < 1e-6)
    certificate.verify(rows, y)
    with pytest.raises(InvalidData, match="without sample weights"):
        certify(model, rows, y, np.ones(60))


def test_rows_of_no_weight_do_not_shift_the_others():
    """scikit-learn leaves such rows out and numbers support vectors among the rest."""
    s = np.where(np.arange(150) % 7 == 0, 0.0, WEIGHTS)
    for model, y in ((svm.SVC(gamma=0.1, tol=1e-6), Y), (svm.SVR(gamma=0.1, tol=1e-6), X[:, 0] * 2.0)):
        certificate = certify(model.fit(X, y, sample_weight=s), X, y, s)
        assert certificate.holds
        certificate.verify(X, y, s)
        used = s > 0
        again = certify(model.fit(X[used], y[used], sample_weight=s[used]), X[used], y[used], s[used])
        gaps = [c["audit.svm_gap"].numbers["objective"] for c in (certificate, again)]
        assert gaps[0] == pytest.approx(gaps[1], rel=1e-9)
