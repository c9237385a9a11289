"""AdaBoost of scikit-learn: rounds repeated, products by hand, tampered weights exposed."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from surefit import CertificateError, InvalidParameter, certify

CANCER, BENIGN = load_breast_cancer(return_X_y=True)
WINE, GRAPE = load_wine(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def test_the_bound_of_two_classes_is_the_product_of_the_textbook():
    model = AdaBoostClassifier(n_estimators=12, random_state=0).fit(CANCER, BENIGN)
    certificate = certify(model, CANCER, BENIGN)
    claim, e = certificate["audit.adaboost.training_error"], model.estimator_errors_
    assert claim.value == pytest.approx(np.prod(2 * np.sqrt(e * (1 - e))))
    assert claim.numbers["training_error"] == pytest.approx(1 - model.score(CANCER, BENIGN))
    assert claim.numbers["training_error"] <= claim.value < 0.5
    assert certificate.holds
    certificate.verify(CANCER, BENIGN)
    with pytest.raises(CertificateError, match="training_error"):
        lower = replace(claim, value=0.9 * claim.value)
        claims = tuple(lower if c.name == claim.name else c for c in certificate.claims)
        replace(certificate, claims=claims, seal="").verify(CANCER, BENIGN)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_several_classes_weights_and_rates(rate):
    s = np.random.default_rng(0).random(len(GRAPE))
    tree = DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=6, learning_rate=rate, random_state=0).fit(WINE, GRAPE, s)
    certificate = certify(model, WINE, GRAPE, s)
    assert certificate.holds
    error = np.average(model.predict(WINE) != GRAPE, weights=s)
    claim = certificate["audit.adaboost.training_error"]
    assert claim.numbers["training_error"] == pytest.approx(error)
    assert error <= claim.value
    certificate.verify(WINE, GRAPE, s)


def test_tampered_weights_and_other_rows_are_exposed():
    model = AdaBoostClassifier(n_estimators=6, random_state=0).fit(CANCER, BENIGN)
    assert certify(model, CANCER, np.roll(BENIGN, 3)).holds is False
    model.estimator_weights_[2] *= 1.1
    claim = certify(model, CANCER, BENIGN)["audit.adaboost.rounds"]
    assert claim.holds is False and claim.value > 0.01
    with pytest.raises(InvalidParameter, match="a tree"):
        certify(AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(WINE / 100, GRAPE), WINE / 100, GRAPE)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression(loss):
    model = AdaBoostRegressor(n_estimators=6, loss=loss, random_state=0).fit(DIABETES, PROGRESS)
    certificate = certify(model, DIABETES, PROGRESS)
    assert certificate.holds
    error = np.mean((model.predict(DIABETES) - PROGRESS) ** 2)
    assert certificate["audit.adaboost.training_loss"].value == pytest.approx(error)
    certificate.verify(DIABETES, PROGRESS)
    model.estimator_weights_[1] *= 1.01
    assert certify(model, DIABETES, PROGRESS).holds is False


def test_a_perfect_member_ends_the_rounds():
    model = AdaBoostClassifier(DecisionTreeClassifier(), random_state=0).fit(WINE, GRAPE)
    assert len(model.estimators_) == 1
    certificate = certify(model, WINE, GRAPE)
    assert certificate.holds and certificate["audit.adaboost.training_error"].numbers["training_error"] == 0
