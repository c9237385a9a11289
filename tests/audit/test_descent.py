"""Models of stochastic gradient descent: their excess over the optimum against cvxpy, labels and predictions of the optimum."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

from surefit import CertificateError, InvalidParameter, certify
from surefit.checks.gap import loss_of as loss_by_name
from surefit.checks.intercepts import offset_interval

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:150, :8], Y[:150]
WINE, GRAPE = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
DIABETES, PROGRESS = DIABETES[:150] * 10, (PROGRESS[:150] - 150) / 75
WEIGHTS = np.random.default_rng(0).random(150)


def fitted(model, rows, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, y, sample_weight=weights)


def loss_of(name, t, z, epsilon=0.1):
    margins, off = cp.multiply(t, z), cp.abs(t - z)
    return {
        "hinge": lambda: cp.pos(1 - margins),
        "log_loss": lambda: cp.logistic(-margins),
        "squared_hinge": lambda: cp.square(cp.pos(1 - margins)),
        "modified_huber": lambda: cp.huber(cp.pos(1 - margins), 2),
        "squared_error": lambda: cp.square(t - z) / 2,
        "huber": lambda: cp.huber(t - z, epsilon) / 2,
        "epsilon_insensitive": lambda: cp.pos(off - epsilon),
        "squared_epsilon_insensitive": lambda: cp.square(cp.pos(off - epsilon)),
    }[name]()


def optimum(model, rows, t, s=None):
    """Smallest objective as scikit-learn's documentation states it, the mean over the rows."""
    w, b = cp.Variable(rows.shape[1]), cp.Variable()
    s = np.ones(len(t)) if s is None else s
    ratio = {"l1": 1.0, "l2": 0.0}.get(model.penalty, model.l1_ratio)
    penalty = ratio * cp.norm1(w) + (1 - ratio) / 2 * cp.sum_squares(w)
    loss = s @ loss_of(model.loss, t, rows @ w + b) / len(t)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # beyond the digits that are compared here
        return cp.Problem(cp.Minimize(loss + model.alpha * penalty)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber", "squared_hinge"])
@pytest.mark.parametrize("penalty", ["l2", "elasticnet"])
def test_a_classifier_is_told_its_excess(loss, penalty):
    model = SGDClassifier(loss=loss, penalty=penalty, alpha=0.01, max_iter=3, random_state=0, eta0=1e-3)
    model.set_params(learning_rate="constant")
    fitted(model, X, Y, WEIGHTS)
    certificate = certify(model, X, Y, WEIGHTS)
    claim = certificate["audit.gap"]
    excess = claim.numbers["objective"] - optimum(model, X, np.where(Y == 1, 1.0, -1.0), WEIGHTS)
    assert certificate.holds is False
    assert excess <= claim.value * (1 + 1e-6)
    if loss != "hinge" or penalty == "l2":  # we have no solver for the other
        assert excess == pytest.approx(claim.value, rel=1e-3)
        assert claim.numbers["at_least"] <= excess * (1 + 1e-6) + 1e-9
    certificate.verify(X, Y, WEIGHTS)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_a_regression_is_told_its_excess(loss, penalty):
    model = fitted(SGDRegressor(loss=loss, penalty=penalty, alpha=0.01, max_iter=3, random_state=0), DIABETES, PROGRESS)
    certificate = certify(model, DIABETES, PROGRESS)
    claim = certificate["audit.gap"]
    unit = (
        2 * len(PROGRESS) if (loss, penalty) == ("squared_error", "l2") else 1
    )  # ridge counts squares, not half their mean
    excess = claim.numbers["objective"] - unit * optimum(model, DIABETES, PROGRESS)
    assert excess <= claim.value * (1 + 1e-6)
    if loss != "epsilon_insensitive" or penalty == "l2":
        assert excess == pytest.approx(claim.value, rel=1e-3)
    certificate.verify(DIABETES, PROGRESS)


def test_labels_in_doubt_cover_those_that_the_optimum_changes():
    early = fitted(SGDClassifier(alpha=0.02, max_iter=1, random_state=3), X, Y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    t = np.where(Y == 1, 1.0, -1.0)
    problem = cp.sum(cp.pos(1 - cp.multiply(t, X @ w + b))) / len(t) + 0.01 * cp.sum_squares(w)
    cp.Problem(cp.Minimize(problem)).solve(solver=cp.CLARABEL)
    changed = int(np.sum((X @ w.value + b.value > 0) != (early.predict(X) == 1)))
    found = certify(early, X, Y)["audit.labels"].value
    assert changed <= found <= changed + 1


def test_several_classes_against_the_rest():
    model = fitted(SGDClassifier(loss="log_loss", alpha=0.01, max_iter=2, random_state=0), WINE, GRAPE)
    certificate = certify(model, WINE, GRAPE)
    best = sum(optimum(model, WINE, np.where(GRAPE == k, 1.0, -1.0)) for k in range(3))
    claim = certificate["audit.gap"]
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-3)
    certificate.verify(WINE, GRAPE)
    with pytest.raises(InvalidParameter, match="class_weight"):
        certify(SGDClassifier(class_weight="balanced").fit(WINE, GRAPE), WINE, GRAPE)
    forged = replace(certificate, claims=(replace(claim, value=0.5 * claim.value), *certificate.claims[1:]), seal="")
    with pytest.raises(CertificateError, match="audit.gap"):
        forged.verify(WINE, GRAPE)


def test_weights_of_two_classes():
    model = fitted(SGDClassifier(loss="log_loss", alpha=0.1, class_weight={0: 1.0, 1: 3.0}, random_state=0), X, Y)
    claim = certify(model, X, Y)["audit.gap"]
    best = optimum(model, X, np.where(Y == 1, 1.0, -1.0), np.where(Y == 1, 3.0, 1.0))
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-3)


def test_a_long_descent_holds():
    model = SGDClassifier(loss="log_loss", alpha=0.1, max_iter=3000, tol=None, random_state=0).fit(X, Y)
    assert certify(model, X, Y, tol=1e-3).holds


def test_a_perceptron_without_errors_is_optimal():
    """Its loss is zero for no coefficients at all; a model that separates its rows has it too."""
    apart = X[:, 0] + X[:, 1] > 0.0
    rows = X[np.abs(X[:, 0] + X[:, 1]) > 0.3]
    apart = apart[np.abs(X[:, 0] + X[:, 1]) > 0.3]
    model = Perceptron(tol=None, max_iter=500).fit(rows, apart)
    assert model.score(rows, apart) == 1.0
    assert certify(model, rows, apart)["audit.gap"].value == 0.0
    mixed = fitted(Perceptron(max_iter=5), X, Y)
    t, z = np.where(Y == 1, 1.0, -1.0), mixed.decision_function(X)
    found = certify(mixed, X, Y)
    assert found["audit.gap"].value == pytest.approx(np.mean(np.maximum(-t * z, 0.0)))
    assert found.holds is False
    found.verify(X, Y)


def test_offsets_by_hand():
    """Two rows at -1 and 1, one of each class, hinge: any offset with both margins at least one is optimal for scores of +-2."""
    y, c, f = np.array([-1.0, 1.0]), np.ones(2), np.array([-2.0, 2.0])
    low, high = offset_interval(loss_by_name({"loss": "hinge"}), y, c, f, np.zeros(2))
    assert low <= -1 + 1e-9 and high >= 1 - 1e-9
    low, high = offset_interval(
        loss_by_name({"loss": "squared_error"}), np.array([1.0, 3.0]), c, np.zeros(2), np.full(2, 0.5)
    )
    assert low == pytest.approx(1.5, abs=1e-6) and high == pytest.approx(2.5, abs=1e-6)
