"""Conformal regressors and classifiers: closed forms against refits, exact thresholds, and what the checker refuses."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as SkLinear
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.linear_model import Ridge as SkRidge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor
from tests.forging import reissued

from surefit import (
    CertificateError,
    Certified,
    ConformalClassifier,
    ConformalRegressor,
    InvalidData,
    InvalidParameter,
    LinearRegression,
    Ridge,
)
from surefit.bounds import conformal_quantile, conformal_quantiles_by_class, jackknife_plus
from surefit.risk.conformal_statement import folds_miscoverage
from surefit.risk.left_out import equal_folds, linear_left_out


def wave(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5
    return X, X @ np.arange(1.0, d + 1) + rng.normal(size=n)


def three_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.argmax(X + 0.8 * rng.normal(size=(n, 3)), axis=1)]


# --- jackknife+ ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [Ridge(alpha=3.0), LinearRegression(), SkRidge(alpha=0.5), SkLinear(), Ridge(fit_intercept=False)]
)
def test_closed_form_is_that_of_n_refits(model):
    X, y = wave(25)
    new = wave(6, seed=1)[0]
    fitted = ConformalRegressor(model, "jackknife+", coverage=0.8).fit(X, y)
    assert not hasattr(fitted, "models_")
    without = [clone(model).fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(25)]
    residuals = np.array([y[i] - without[i].predict(X[[i]])[0] for i in range(25)])
    assert np.allclose(fitted.residuals_, residuals, rtol=1e-6)
    for x, ends in zip(new, fitted.predict_interval(new), strict=True):
        expected = jackknife_plus([m.predict([x])[0] for m in without], residuals, alpha=0.2)
        assert np.allclose(ends, expected, rtol=1e-6)
    assert fitted.verify(X, y)["conformal.folds"].proved == pytest.approx(0.4)


def test_refits_where_there_is_no_closed_form():
    X, y = wave(12)
    new = wave(4, seed=2)[0]
    model = KNeighborsRegressor(2)
    fitted = ConformalRegressor(model, "jackknife+", coverage=0.8).fit(X, y)
    assert len(fitted.models_) == 12
    without = [clone(model).fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(12)]
    residuals = np.array([y[i] - without[i].predict(X[[i]])[0] for i in range(12)])
    for x, ends in zip(new, fitted.predict_interval(new), strict=True):
        assert np.allclose(ends, jackknife_plus([m.predict([x])[0] for m in without], residuals, alpha=0.2))
    fitted.verify(X, y)


def test_no_closed_form_where_a_row_decides_a_coefficient():
    X, y = wave(10)
    X[:, 0] = 0.0
    X[3, 0] = 1.0
    assert linear_left_out(X, y, 0.0, True) is None and linear_left_out(X, y, 1.0, True) is not None
    assert len(ConformalRegressor(SkLinear(), "jackknife+").fit(X, y).models_) == 10


def test_too_few_rows_give_the_whole_line():
    X, y = wave(5)
    ends = ConformalRegressor(Ridge(), "jackknife+", coverage=0.9).fit(X, y).predict_interval(X)
    assert np.all(np.isinf(ends)) and np.all(ends[:, 0] < ends[:, 1])


# --- cv+ ----------------------------------------------------------------------------------------------------------------------


def test_folds_are_equal_and_the_rest_is_always_trained_on():
    folds = equal_folds(np.random.default_rng(0).permutation(23), 5)
    assert np.bincount(folds[folds >= 0]).tolist() == [4] * 5 and np.sum(folds < 0) == 3


def test_cv_plus_by_hand():
    X, y = wave(23)
    fitted = ConformalRegressor(
        DecisionTreeRegressor(random_state=0), "cv+", n_folds=5, coverage=0.8, random_state=0
    ).fit(X, y)
    new = wave(3, seed=3)[0]
    rows, folds = fitted.calibration_rows_, fitted.folds_
    assert len(rows) == 20 and len(fitted.models_) == 5
    for k in range(5):
        alone = DecisionTreeRegressor(random_state=0).fit(X[folds != k], y[folds != k])
        assert np.array_equal(alone.predict(new), fitted.models_[k].predict(new))
    for x, ends in zip(new, fitted.predict_interval(new), strict=True):
        center = [fitted.models_[folds[i]].predict([x])[0] for i in rows]
        assert np.allclose(ends, jackknife_plus(center, fitted.residuals_, alpha=0.2))
    claim = fitted.certificate_["conformal.folds"]
    assert claim.value == pytest.approx(0.4 + min(2 * 0.8 / 5, (1 - 5 / 20) / 6))
    fitted.verify(X, y)


@pytest.mark.parametrize(("n", "K"), [(20, 20), (100, 10), (1000, 5), (4, 2)])
def test_miscoverage_of_folds_is_within_the_simple_form(n, K):
    value = folds_miscoverage(n, K, 0.05)
    assert 0.1 <= value <= 0.1 + math.sqrt(2 / n) + 1e-12
    assert (value == 0.1) == (n == K)


# --- split --------------------------------------------------------------------------------------------------------------------


def test_split_is_the_order_statistic_of_the_residuals():
    X, y = wave(300)
    fitted = ConformalRegressor(Ridge(), random_state=0).fit(X, y)
    rows = fitted.calibration_rows_
    assert len(rows) == 150
    alone = Ridge().fit(np.delete(X, rows, 0), np.delete(y, rows))
    found = conformal_quantile(np.abs(y[rows] - alone.predict(X[rows])), 0.1)
    assert fitted.quantile_ == pytest.approx(found.value)
    assert np.allclose(fitted.predict_interval(X), alone.predict(X)[:, None] + np.array([-1, 1]) * found.value)
    marginal, given = fitted.certificate_.claims
    assert marginal.value == pytest.approx(1 - 136 / 151) and marginal.value <= 0.1
    assert given.value == pytest.approx(1 - found.conditional_coverage(0.05), rel=1e-9)
    assert fitted.conditional_coverage_ == pytest.approx(1 - given.value)
    assert "exchangeable" in marginal.assumptions and "iid" in given.assumptions
    fitted.verify(X, y)


def test_fitted_model_is_calibrated_on_every_row_given():
    X, y = wave(300)
    model = Ridge().fit(X[:200], y[:200])
    fitted = ConformalRegressor(model, "prefit").fit(X[200:], y[200:])
    assert fitted.estimator_ is model and np.array_equal(fitted.calibration_rows_, np.arange(100))
    assert fitted.quantile_ == conformal_quantile(np.abs(y[200:] - model.predict(X[200:])), 0.1).value
    assert fitted.certificate_.claims[0].value == pytest.approx(1 - 91 / 101)
    fitted.verify(X[200:], y[200:])
    with pytest.raises(InvalidData, match="training rows of the .*; pass rows that it has not seen"):
        ConformalRegressor(model, "prefit").fit(X[:200], y[:200])
    with pytest.raises(NotFittedError):
        ConformalRegressor(Ridge(), "prefit").fit(X, y)
    labels = np.where(y > np.median(y), "high", "low")
    sets = ConformalClassifier(SkLogistic().fit(X[:200], labels[:200]), "prefit").fit(X[200:], labels[200:])
    assert len(sets.scores_) == 100 and sets.verify(X[200:], labels[200:])


def test_classification_sets():
    X, y = three_classes(700)
    new, truth = three_classes(2000, seed=1)
    fitted = ConformalClassifier(SkLogistic(), random_state=0).fit(X, y)
    rows = fitted.calibration_rows_
    p = fitted.estimator_.predict_proba(X[rows])
    scores = 1 - p[np.arange(len(rows)), np.searchsorted(fitted.classes_, y[rows])]
    threshold = conformal_quantile(scores, 0.1).value
    assert np.allclose(fitted.thresholds_, threshold)
    inside = fitted.predict_set(new)
    assert np.array_equal(inside, 1 - fitted.predict_proba(new) <= threshold)
    assert 0.85 < inside[np.arange(2000), np.searchsorted(fitted.classes_, truth)].mean() < 0.95
    fitted.verify(X, y)


def test_coverage_within_every_class():
    rng = np.random.default_rng(0)
    X, y = three_classes(3000)
    keep = (y != "c") | (rng.random(3000) < 0.25)  # a rare class
    X, y = X[keep], y[keep]
    new, truth = three_classes(4000, seed=1)
    by_class = ConformalClassifier(SkLogistic(), by_class=True, random_state=0).fit(X, y)
    rows = by_class.calibration_rows_
    p = by_class.estimator_.predict_proba(X[rows])
    scores = 1 - p[np.arange(len(rows)), np.searchsorted(by_class.classes_, y[rows])]
    expected = conformal_quantiles_by_class(scores, y[rows], 0.1)
    assert np.allclose(by_class.thresholds_, [expected[name].value for name in "abc"])
    together = ConformalClassifier(SkLogistic(), random_state=0).fit(X, y)
    covered = {}
    for name, model in (("by_class", by_class), ("together", together)):
        inside = model.predict_set(new)[:, 2]
        covered[name] = inside[truth == "c"].mean()
    assert covered["together"] < 0.8 < covered["by_class"]
    assert len(by_class.certificate_.claims) == 6
    assert by_class.certificate_.claims[1].numbers["delta"] == pytest.approx(0.05 / 3)
    by_class.verify(X, y)


@pytest.mark.parametrize("method", ["cv+", "jackknife+"])
def test_classification_by_folds(method):
    X, y = three_classes(60)
    fitted = ConformalClassifier(SkLogistic(), method, n_folds=6, coverage=0.8, random_state=0).fit(X, y)
    new = three_classes(5, seed=4)[0]
    rank = math.ceil(61 * 0.8 - 1e-9)
    expected = np.zeros((5, 3), dtype=bool)
    for j in range(5):
        for k in range(3):
            scores = [
                1 - fitted.models_[fitted.folds_[i]].predict_proba(new[[j]])[0, k] for i in fitted.calibration_rows_
            ]
            expected[j, k] = np.sum(fitted.scores_ < np.array(scores)) < rank
    assert np.array_equal(fitted.predict_set(new), expected)
    fitted.verify(X, y)


def test_class_without_calibration_row_is_in_every_set():
    X, y = three_classes(300)
    keep = np.flatnonzero((y != "c") | (np.cumsum(y == "c") <= 2))
    models = [ConformalClassifier(SkLogistic(), by_class=True, random_state=s).fit(X[keep], y[keep]) for s in range(8)]
    bare = [m for m in models if "c" in m.classes_ and not np.any(y[keep][m.calibration_rows_] == "c")]
    assert bare and np.all(bare[0].predict_set(X)[:, list(bare[0].classes_).index("c")])
    assert any(claim.kind == "no_claim" for claim in bare[0].certificate_.claims)


# --- the checker --------------------------------------------------------------------------------------------------------------


def test_bad_use():
    X, y = three_classes(50)
    with pytest.raises(InvalidParameter, match="predict_proba"):
        ConformalClassifier(SVC()).fit(X, y)
    with pytest.raises(InvalidParameter, match="by_class must be False"):
        ConformalClassifier(SkLogistic(), "cv+", by_class=True).fit(X, y)
    with pytest.raises(InvalidParameter, match="calibration_size must be below"):
        ConformalClassifier(SkLogistic(), calibration_size=50).fit(X, y)
    with pytest.raises(InvalidParameter, match="method"):
        ConformalRegressor(method="full").fit(X, X[:, 0])


def test_iris_counts_its_copy_once():
    X, y = load_iris(return_X_y=True)
    fitted = ConformalClassifier(random_state=0).fit(X, y)
    assert len(fitted.calibration_rows_) == 74
    fitted.verify(X, y)


@pytest.mark.parametrize("forged", [[0, 0, 2], [0, 2], [2, 1, 0]])
def test_other_classes_are_refused_even_with_a_new_seal(forged):
    X, y = load_iris(return_X_y=True)
    for model in (ConformalClassifier(SkLogistic(), random_state=0), Certified(SkLogistic(), random_state=0)):
        model.fit(X, y)
        reissued(model).verify(X, y)
        model._classes_of_y = np.array(forged)
        with pytest.raises(CertificateError, match="classes of the model"):
            reissued(model).verify(X, y)
