"""Searches on folds drawn by class, in worlds whose risks are known: the bound may fail in a fraction delta of the trials."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold, StratifiedKFold
from tests.slow.rules import Centroid
from tests.slow.worlds import Gaussians, allowed

from surefit import GridSearchCV, cross_validate

DELTA = 0.2


class Share(ClassifierMixin, BaseEstimator):
    """Answers with the class that is the more frequent (or the rarer) one among the training labels: it knows the classes of the fold."""

    def __init__(self, rarer=False):
        self.rarer = rarer

    def fit(self, X, y):
        self.classes_ = np.array([-1.0, 1.0])
        self.answer_ = 1.0 if (y.sum() > 0) != self.rarer else -1.0
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


@pytest.mark.parametrize("folds", [2, 5])
@pytest.mark.parametrize(("world", "n"), [(Gaussians(8, 0.6), 120), (Gaussians(4, 1.2), 60)], ids=["weak", "strong"])
def test_best_of_eight_on_folds_drawn_by_class(world, n, folds):
    # World A: the chosen candidate's fold models are linear rules with an exact risk.
    rng, trials, bad = np.random.default_rng(1), 60, 0
    for _ in range(trials):
        X, t = world.draw(rng, n)
        search = GridSearchCV(Centroid(), {"keep": [None, *range(world.d - 1)]}, cv=folds, confidence=1 - DELTA).fit(
            X, t
        )
        bad += np.mean([world.below(m.w_, m.b_) for m in search.fold_models_]) > search.risk_bound_
    assert bad <= allowed(trials, DELTA)


@pytest.mark.parametrize("folds", [2, 4])
def test_coins_are_never_beaten_by_rules_that_know_the_shares(folds):
    # World B: labels are coins, so every risk is one half; a fold drawn by class has the shares of the training part.
    rng, trials, bad = np.random.default_rng(2), 150, 0
    for _ in range(trials):
        X, t = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40) * 2.0 - 1.0
        search = GridSearchCV(Share(), {"rarer": [False, True]}, cv=folds, confidence=1 - DELTA).fit(X, t)
        bad += search.risk_bound_ < 0.5
    assert bad <= allowed(trials, DELTA)


def test_three_classes_in_uneven_shares():
    # Labels are drawn without looking at X: the risk of an answer is the chance of the other classes.
    shares, rng, trials, bad = np.array([0.5, 0.3, 0.2]), np.random.default_rng(3), 150, 0
    for _ in range(trials):
        X, y = rng.normal(size=(90, 2)), rng.choice(3, size=90, p=shares)
        result = cross_validate(Majority(), X, y, cv=StratifiedKFold(3), confidence=1 - DELTA)
        risks = [1 - shares[np.bincount(y[result.folds.fold != j]).argmax()] for j in range(3)]
        low, high = result.interval("Majority")
        bad += not low <= np.mean(risks) <= high
    assert bad <= allowed(trials, DELTA)


class Majority(ClassifierMixin, BaseEstimator):
    """Answers with the most frequent class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.answer_ = np.bincount(y).argmax()
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


def test_a_capital_that_is_not_weighted_gains_on_coins():
    # What the price is for: E exp(m Z) of the rule that knows the shares exceeds one on folds drawn by class, not on blind ones.
    rng, trials, rate = np.random.default_rng(4), 2000, 0.16
    capital = {"by class": np.zeros(trials), "blind": np.zeros(trials)}
    a = 1 - np.exp(-rate)
    for i in range(trials):
        t = rng.integers(0, 2, size=40)
        for name, splitter in (("by class", StratifiedKFold(2)), ("blind", KFold(2))):
            train, test = next(splitter.split(t[:, None], t))
            answer = int(t[train].mean() > 0.5)
            errors = np.sum(t[test] != answer)
            capital[name][i] = np.exp(-rate * errors) / (1 - a / 2) ** len(test)
    means = {name: value.mean() for name, value in capital.items()}
    errors = {name: value.std() / np.sqrt(trials) for name, value in capital.items()}
    assert means["by class"] > 1 + 4 * errors["by class"], means
    assert means["blind"] <= 1 + 4 * errors["blind"], means
