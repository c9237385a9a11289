"""Splits are drawn without looking at labels: a training part that lacks a class still gives a right answer, or a sentence."""

from unittest import SkipTest

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from surefit import (
    Certified,
    ConformalClassifier,
    ConformalRegressor,
    InvalidData,
    cross_validate,
    learning_curve,
    risk_certificate,
)
from surefit.bounds import clopper_pearson


def rare(n=60, seed=0):
    """Three classes, two rows of the last."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], [n // 2, n - n // 2 - 2, 2])
    return rng.normal(size=(n, 2)) + 3.0 * (y == "b")[:, None] - 3.0 * (y == "c")[:, None], y


def unlucky(make, X, y, **fit):
    """The first random_state whose split leaves no row of class c for training."""
    for seed in range(200):
        model = make(seed).fit(X, y, **fit)
        if "c" not in model.estimator_.classes_:
            return model
    raise AssertionError("no seed withholds both rows of class c")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cls", [Certified, ConformalClassifier, ConformalRegressor])
def test_scikit_learn_checks_under_every_split(cls, seed):
    ran = 0
    for estimator, check in estimator_checks_generator(cls()):
        np.random.seed(seed)
        try:
            check(estimator)
        except SkipTest:  # checks of array libraries that are not installed
            continue
        ran += 1
    assert ran > 40


@pytest.mark.parametrize("dense", [True, False])
def test_class_that_the_training_part_lacks_is_an_error_and_a_column(dense):
    X, y = rare()
    model = unlucky(lambda s: Certified(SkLogistic(), random_state=s), X if dense else sparse.csr_array(X), y)
    given = X if dense else sparse.csr_array(X)
    assert model.classes_.tolist() == ["a", "b", "c"] and model.estimator_.classes_.tolist() == ["a", "b"]
    p, f = model.predict_proba(given), model.decision_function(given)
    assert p.shape == f.shape == (len(y), 3)
    assert np.all(p[:, 2] == 0) and np.allclose(p.sum(axis=1), 1) and np.all(f[:, 2] == -np.inf)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(given))
    assert np.array_equal(model.classes_[f.argmax(axis=1)], model.predict(given))
    test = model.test_rows_
    wrong = np.sum(model.predict(given)[test] != y[test])
    assert wrong >= 2 and model.risk_bound_ == pytest.approx(clopper_pearson(int(wrong), len(test), 0.05))
    model.verify(given, y)
    assert model.score(given, y) == np.mean(model.predict(given) == y)


def test_one_of_two_classes_gives_one_column_of_scores():
    X, y = rare()
    y = np.where(y == "c", "c", "a")
    model = unlucky(lambda s: Certified(OneSided(), random_state=s), X, y)
    assert np.all(model.decision_function(X) == -np.inf) and np.all(model.predict(X) == "a")
    assert model.predict_proba(X).tolist() == [[1.0, 0.0]] * len(y)
    model.verify(X, y)


class OneSided(DummyClassifier):
    """Answers with the most frequent class, and has a score."""

    def decision_function(self, X):
        return np.ones(len(X))


def test_scores_of_pairs_cannot_be_spread_over_classes():
    X, y = rare(80)
    y = np.where((y == "a") & (X[:, 0] > 0), "d", y)
    model = unlucky(lambda s: Certified(SVC(decision_function_shape="ovo"), random_state=s), X, y)
    with pytest.raises(InvalidData, match="pairs of classes"):
        model.decision_function(X)


@pytest.mark.parametrize("by", ["progressive", "transfer", "p2l"])
def test_every_procedure_with_a_class_that_comes_late(by):
    X, y = rare()
    fresh = rare(seed=5)[0]
    for seed in range(8):
        model = Certified(GaussianNB(), by, n_blocks=3, random_state=seed)
        model.fit(X, y, X_unlabeled=fresh) if by == "transfer" else model.fit(X, y)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert model.predict_proba(X).shape == (len(y), 3)
        model.verify(X, y)


def test_brier_score_charges_a_class_that_cannot_be_named():
    X, y = rare()
    model = unlucky(lambda s: Certified(GaussianNB(), loss="brier", random_state=s), X, y)
    test = model.test_rows_
    truth = (y[test][:, None] == model.classes_).astype(float)
    losses = 0.5 * np.sum((model.predict_proba(X[test]) - truth) ** 2, axis=1)
    claim = model.certificate_["risk.holdout"]
    assert claim.numbers["empirical"] == pytest.approx(losses.mean())
    model.verify(X, y)


@pytest.mark.parametrize("by_class", [False, True])
def test_sets_with_a_class_that_was_not_met(by_class):
    X, y = rare()
    model = unlucky(lambda s: ConformalClassifier(GaussianNB(), by_class=by_class, random_state=s), X, y)
    inside = model.predict_set(X)
    assert inside.shape == (len(y), 3) and model.thresholds_.shape == (3,)
    assert np.all(inside[:, 2]) if model.thresholds_[2] == np.inf else not np.any(inside[:, 2])
    rows = model.calibration_rows_
    covered = inside[rows, np.searchsorted(model.classes_, y[rows])]
    assert np.mean(covered) >= 0.9 or by_class  # the threshold is an order statistic of these very scores
    if by_class:
        assert np.all(covered[y[rows] == "c"])
    model.verify(X, y)


def test_sentence_where_a_part_has_one_class_only():
    X, y = rare()
    y = np.where(y == "c", "c", "a")
    # with half the rows, one row in four splits has both rows of class c on the tested side
    with pytest.raises(InvalidData, match=r"contain no row of class c.*random_state"):
        for seed in range(100):
            Certified(SkLogistic(), random_state=seed).fit(X, y)
    with pytest.raises(
        InvalidData, match="ConformalClassifier: LogisticRegression could not be fitted on 30 of 60 rows"
    ):
        for seed in range(100):
            ConformalClassifier(SkLogistic(), random_state=seed).fit(X, y)
    with pytest.raises(InvalidData, match="cross_validate: LogisticRegression could not be fitted"):
        for seed in range(100):
            cross_validate(SkLogistic(), X, y, cv=2, random_state=seed, error_score="raise")
    with pytest.raises(InvalidData, match="learning_curve: LogisticRegression could not be fitted"):
        learning_curve(SkLogistic(), X, y, train_sizes=[2, 40], cv=KFold(5), error_score="raise")


def test_certificate_of_a_model_that_has_not_met_a_class():
    X, y = rare()
    old = SkLogistic().fit(X[:58], y[:58])
    fresh, truth = rare(seed=3)
    claim = risk_certificate(old, fresh, truth)["risk.holdout"]
    assert claim.numbers["errors"] == np.sum(old.predict(fresh) != truth) >= 2
    assert risk_certificate(old, fresh, truth, loss="brier").verify(fresh, truth)["risk.holdout"].ok
