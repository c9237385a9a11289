"""Boosted trees of scikit-learn, XGBoost and LightGBM: all rounds repeated, by hand for one stump, and exposed on other data."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import log_loss, mean_squared_error

from surefit import CertificateError, InvalidData, InvalidParameter, certify

DIABETES, PROGRESS = load_diabetes(return_X_y=True)
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).random(len(PROGRESS))


def check_regression(model, weights=None):
    model.fit(DIABETES, PROGRESS, sample_weight=weights)
    certificate = certify(model, DIABETES, PROGRESS, weights)
    assert certificate.holds
    half = 0.5 * mean_squared_error(PROGRESS, model.predict(DIABETES), sample_weight=weights)
    assert certificate["audit.boosting.loss"].value == pytest.approx(half, rel=1e-5)
    certificate.verify(DIABETES, PROGRESS, weights)
    other = PROGRESS[::-1].copy()
    assert certify(model, DIABETES, other, weights)["audit.boosting.leaves"].holds is False


def check_classification(model, X, y):
    model.fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds
    assert certificate["audit.boosting.loss"].value == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-4)
    certificate.verify(X, y)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_regression_of_scikit_learn(weights):
    check_regression(ensemble.GradientBoostingRegressor(n_estimators=8), weights)
    check_regression(ensemble.HistGradientBoostingRegressor(max_iter=8, l2_regularization=2.0), weights)


@pytest.mark.parametrize(("X", "y"), [(CANCER, BENIGN), (IRIS, SPECIES)], ids=["two classes", "three classes"])
def test_classification_of_scikit_learn(X, y):
    check_classification(ensemble.GradientBoostingClassifier(n_estimators=5), X, y)
    check_classification(ensemble.HistGradientBoostingClassifier(max_iter=5), X, y)


def test_one_stump_by_hand():
    """Targets 0, 0, 6, 6: the baseline is 3, the leaves hold half of -3 and of 3; the loss falls from 4.5 to 1.125."""
    X, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 6.0, 6.0])
    model = ensemble.GradientBoostingRegressor(n_estimators=1, learning_rate=0.5, max_depth=1).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate["audit.boosting.loss"].value == pytest.approx(1.125)
    assert certificate["audit.boosting.leaves"].value == pytest.approx(0.0, abs=1e-12)
    shifted = certify(model, X, y + np.array([0.0, 0.0, 0.0, 4.0]))
    # at the old baseline 3 the right leaf should hold half of 5 and holds half of 3
    assert shifted["audit.boosting.leaves"].value == pytest.approx(1.0 / 1.5)
    claim = certificate["audit.boosting.loss"]
    forged = tuple(replace(c, value=0.5 * c.value) if c is claim else c for c in certificate.claims)
    with pytest.raises(CertificateError, match="boosting.loss"):
        replace(certificate, claims=forged, seal="").verify(X, y)


def test_trees_without_a_split_hold():
    X, y = np.ones((12, 1)), np.arange(12.0)
    assert certify(ensemble.GradientBoostingRegressor(n_estimators=2).fit(X, y), X, y).holds
    assert certify(ensemble.HistGradientBoostingRegressor(max_iter=2).fit(X, y), X, y).holds


def test_rounds_that_saw_a_part_of_the_rows_claim_their_loss_alone():
    model = ensemble.GradientBoostingRegressor(subsample=0.5, n_estimators=6, random_state=0).fit(DIABETES, PROGRESS)
    certificate = certify(model, DIABETES, PROGRESS)
    half = 0.5 * mean_squared_error(PROGRESS, model.predict(DIABETES))
    assert certificate["audit.boosting.loss"].value == pytest.approx(half, rel=1e-6)
    assert certificate["audit.boosting.sampled"].kind == "no_claim"
    certificate.verify(DIABETES, PROGRESS)


def test_rounds_that_cannot_be_repeated_are_refused():
    with pytest.raises(InvalidData, match="early_stopping or categories"):
        early = ensemble.HistGradientBoostingRegressor(early_stopping=True, max_iter=2).fit(IRIS, SPECIES)
        certify(early, IRIS, SPECIES)


def test_xgboost():
    xgboost = pytest.importorskip("xgboost")
    check_regression(xgboost.XGBRegressor(n_estimators=8, reg_lambda=3.0), WEIGHTS)
    check_classification(xgboost.XGBClassifier(n_estimators=5), CANCER, BENIGN)
    check_classification(xgboost.XGBClassifier(n_estimators=5), IRIS, SPECIES)
    with pytest.raises(InvalidParameter, match="reg_alpha"):
        certify(xgboost.XGBRegressor(n_estimators=2, reg_alpha=1.0).fit(IRIS, SPECIES), IRIS, SPECIES)


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    check_regression(lightgbm.LGBMRegressor(n_estimators=8, reg_lambda=3.0, verbose=-1), WEIGHTS)
    check_classification(lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), CANCER, BENIGN)
    check_classification(lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), IRIS, SPECIES)


def check_booster(booster, X, y, scores, **options):
    """Rounds repeated, the loss by the Booster's own scores, rows kept back, and a file of it."""
    certificate = certify(booster, X[50:], y[50:], X_holdout=X[:50], y_holdout=y[:50], **options)
    assert certificate.holds
    certificate.verify(X[50:], y[50:])
    own = scores(X[50:])
    loss = 0.5 * mean_squared_error(y[50:], own) if len(np.unique(y)) > 3 else log_loss(y[50:], own)
    assert certificate["audit.boosting.loss"].value == pytest.approx(loss, rel=1e-4)
    other = certify(booster, X[50:], y[50:][::-1].copy())
    assert other["audit.boosting.leaves"].holds is False
    return certificate.claims[-1]


def test_boosters_of_xgboost():
    xgboost = pytest.importorskip("xgboost")
    order = np.random.default_rng(0).permutation(150)
    for X, y, options in (
        (DIABETES, PROGRESS, {"objective": "reg:squarederror", "eta": 0.2}),
        (CANCER, BENIGN.astype(float), {"objective": "binary:logistic", "lambda": 3.0}),
        (IRIS[order], SPECIES[order].astype(float), {"objective": "multi:softprob", "num_class": 3}),
    ):
        booster = xgboost.train(options, xgboost.DMatrix(X[50:], y[50:]), 5)
        claim = check_booster(booster, X, y, lambda rows, b=booster: b.predict(xgboost.DMatrix(rows)))
        if "num_class" in options:
            wrong = booster.predict(xgboost.DMatrix(X[:50])).argmax(axis=1) != y[:50]
            assert claim.numbers["errors"] == wrong.sum()
    sampled = xgboost.train({"subsample": 0.5}, xgboost.DMatrix(DIABETES, PROGRESS), 3)
    assert certify(sampled, DIABETES, PROGRESS)["audit.boosting.sampled"].kind == "no_claim"
    with pytest.raises(InvalidData, match="alpha = 1"):
        certify(xgboost.train({"alpha": 1.0}, xgboost.DMatrix(DIABETES, PROGRESS), 2), DIABETES, PROGRESS)
    with pytest.raises(InvalidData, match="reg:absoluteerror"):
        absolute = xgboost.train({"objective": "reg:absoluteerror"}, xgboost.DMatrix(DIABETES, PROGRESS), 2)
        certify(absolute, DIABETES, PROGRESS)


def test_boosters_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    order = np.random.default_rng(0).permutation(150)
    for X, y, options in (
        (DIABETES, PROGRESS, {"objective": "regression", "eta": 0.2}),
        (CANCER, BENIGN.astype(float), {"objective": "binary", "reg_lambda": 3.0}),
        (IRIS[order], SPECIES[order].astype(float), {"objective": "multiclass", "num_class": 3}),
    ):
        booster = lightgbm.train({**options, "verbose": -1}, lightgbm.Dataset(X[50:], y[50:]), 5)
        check_booster(booster, X, y, booster.predict)
        again = lightgbm.Booster(model_str=booster.model_to_string())  # a file keeps the parameters
        assert certify(again, X[50:], y[50:]).holds
    with pytest.raises(InvalidData, match="path_smooth"):
        smooth = {"path_smooth": 1.0, "verbose": -1}
        certify(lightgbm.train(smooth, lightgbm.Dataset(DIABETES, PROGRESS), 2), DIABETES, PROGRESS)
    with pytest.raises(InvalidData, match="10 columns"):
        certify(lightgbm.train({"verbose": -1}, lightgbm.Dataset(DIABETES, PROGRESS), 2), DIABETES[:, :4], PROGRESS)
