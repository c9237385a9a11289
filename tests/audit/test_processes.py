"""Classification by Gaussian processes, nearest neighbors and networks of scikit-learn: second routes, early ends, tampering."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

from surefit import CertificateError, Invalidated, InvalidData, InvalidParameter, certify

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:80, :6], Y[:80]
WINE, GRAPE = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)
COLORS = np.array(["red", "white", "yellow"])[GRAPE]
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def fitted(model, rows, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, y)


# --- Gaussian processes ---------------------------------------------------------------------------------------------------


def test_an_early_mode_is_told_how_far_it_is():
    early = GaussianProcessClassifier(2.0 * RBF(3.0), optimizer=None, max_iter_predict=2).fit(X, Y)
    certificate = certify(early, X, Y)
    K = 2.0 * rbf_kernel(X, gamma=1 / 18)
    t, a = np.where(Y == 1, 1.0, -1.0), (Y - early.base_estimator_.pi_).astype(float)
    u = cp.Variable(len(Y))
    factor = np.linalg.cholesky(K + 1e-10 * np.eye(len(Y)))
    best = cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(t, factor @ u))) + cp.sum_squares(u) / 2))
    best.solve(solver=cp.CLARABEL)
    excess = np.sum(np.logaddexp(0, -t * (K @ a))) + 0.5 * a @ K @ a - best.value
    claim = certificate["audit.gaussian_process_classifier.gap"]
    assert 0 < excess <= claim.value
    assert certificate.holds is False
    assert certificate["audit.gaussian_process_classifier.evidence"].value > 0.1
    certificate.verify(X, Y)


@pytest.mark.parametrize(("rows", "y"), [(X, Y), (WINE[:, :4], COLORS)], ids=["two", "three"])
def test_a_mode_that_was_found_holds(rows, y):
    model = GaussianProcessClassifier(2.0 * RBF(2.0), optimizer=None).fit(rows, y)
    certificate = certify(model, rows, y)
    assert certificate.holds
    assert certificate["audit.gaussian_process_classifier.gap"].value < 1e-9
    stated = model.log_marginal_likelihood_value_
    assert certificate["audit.gaussian_process_classifier.evidence"].value < 1e-6 * (1 + abs(stated))
    certificate.verify(rows, y)
    first = model.base_estimator_ if len(np.unique(y)) == 2 else model.base_estimator_.estimators_[0]
    first.pi_ = first.pi_ * 0.9
    with pytest.raises(Invalidated, match="dual_coef_"):
        certificate.verify(rows, y)
    assert certify(model, rows, y).holds is False


def test_processes_that_are_refused():
    model = GaussianProcessClassifier(RBF(2.0), optimizer=None, multi_class="one_vs_one").fit(WINE[:, :3], GRAPE)
    with pytest.raises(InvalidParameter, match="one_vs_rest"):
        certify(model, WINE[:, :3], GRAPE)
    with pytest.raises(InvalidData, match="without weights"):
        certify(GaussianProcessClassifier(RBF(2.0), optimizer=None).fit(X, Y), X, Y, np.ones(len(Y)))


# --- neighbors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "rows", "y"),
    [
        (KNeighborsClassifier(), WINE, COLORS),
        (KNeighborsClassifier(3, p=3, algorithm="ball_tree"), X, Y),
        (KNeighborsClassifier(3), sparse.csr_array(X), Y),
        (KNeighborsRegressor(4, metric="manhattan", algorithm="kd_tree"), DIABETES, PROGRESS),
        (KNeighborsRegressor(2), np.zeros((6, 2)), np.arange(6.0)),
    ],
    ids=["texts", "ball tree", "sparse", "kd tree", "all equal"],
)
def test_neighbors_are_the_nearest(model, rows, y):
    certificate = certify(model.fit(rows, y), rows, y)
    assert certificate.holds
    certificate.verify(rows, y)


def test_other_rows_and_wrong_neighbors_are_exposed():
    model = KNeighborsClassifier(3).fit(X, Y)
    other = X.copy()
    other[:5] += 1.0
    certificate = certify(model, other, Y)
    assert certificate["audit.neighbors.rows"].value == 5 and certificate.holds is False
    certificate.verify(other, Y)
    flipped = np.where(np.arange(len(Y)) < 7, 1 - Y, Y)
    assert certify(model, X, flipped)["audit.neighbors.rows"].value == 7
    honest = certify(model, X, Y)
    claim = honest["audit.neighbors.nearest"]
    worse = claim.witness["neighbors"].copy()
    worse[0] = np.argsort(np.linalg.norm(X - X[0], axis=1))[-3:]
    forged = replace(claim, witness={**claim.witness, "neighbors": worse})
    claims = tuple(forged if c.name == claim.name else c for c in honest.claims)
    with pytest.raises(CertificateError, match="nearest"):
        replace(honest, claims=claims, seal="").verify(X, Y)
    with pytest.raises(InvalidParameter, match="metric"):
        certify(KNeighborsClassifier(metric=lambda a, b: np.abs(a - b).sum()).fit(X, Y), X, Y)


# --- networks -------------------------------------------------------------------------------------------------------------


def objective_by_hand(model, rows, y):
    penalty = model.alpha / (2 * len(rows)) * sum(np.sum(c**2) for c in model.coefs_)
    if hasattr(model, "classes_"):
        return log_loss(y, model.predict_proba(rows)) + penalty
    return 0.5 * np.mean((model.predict(rows) - y) ** 2) + penalty


@pytest.mark.parametrize(
    ("model", "rows", "y"),
    [
        (MLPClassifier((5,), solver="lbfgs", alpha=1.0, max_iter=3000, random_state=0), X, Y),
        (
            MLPClassifier((5, 4), activation="tanh", solver="lbfgs", alpha=1.0, max_iter=3000, random_state=0),
            WINE,
            COLORS,
        ),
        (
            MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", alpha=10.0, max_iter=3000, random_state=0),
            DIABETES,
            PROGRESS / 80,
        ),
    ],
    ids=["two", "three", "numbers"],
)
def test_networks_hold_their_last_layer(model, rows, y):
    certificate = certify(fitted(model, rows, y), rows, y)
    assert certificate["audit.network.output_gap"].holds
    assert certificate["audit.network.objective"].value == pytest.approx(objective_by_hand(model, rows, y), rel=1e-7)
    step, w, b = 1e-6, model.coefs_[0], model.intercepts_[0]
    own = b[0]
    slope = certificate["audit.network.gradient"].value
    b[0] = own + step
    up = objective_by_hand(model, rows, y)
    b[0] = own - step
    assert abs(up - objective_by_hand(model, rows, y)) / (2 * step) <= slope + 1e-6
    b[0] = own
    certificate.verify(rows, y)
    w[0, 0] += 1.0
    with pytest.raises(Invalidated, match="packed_"):
        certificate.verify(rows, y)


def test_an_early_network_is_exposed_and_several_outputs_are_summed():
    early = fitted(MLPClassifier((5,), max_iter=5, random_state=0), X, Y)
    certificate = certify(early, X, Y)
    assert "audit.network.output_gap" not in [c.name for c in certificate.claims]  # it would be vacuous
    assert certificate["audit.network.gradient"].value > 0.01
    certificate.verify(X, Y)
    both = np.column_stack([PROGRESS, PROGRESS**2 / 200]) / 80
    model = fitted(MLPRegressor(hidden_layer_sizes=(4,), alpha=3.0, max_iter=50, random_state=0), DIABETES, both)
    found = certify(model, DIABETES, both)
    assert found["audit.network.objective"].value == pytest.approx(
        2 * objective_by_hand(model, DIABETES, both), rel=1e-7
    )
    found.verify(DIABETES, both)
