"""Logistic regression with a cross-validated penalty: the same scores as fits by hand, and one certificate."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from surefit import InvalidParameter, LogisticRegression, LogisticRegressionCV
from surefit.core.errors import SurefitError


def problem(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_scores_are_those_of_fits_by_hand(scoring):
    X, y = problem()
    folds = list(StratifiedKFold(3).split(X, y))
    model = LogisticRegressionCV(Cs=[1.0, 0.01], l1_ratios=[0.0, 1.0], cv=folds, scoring=scoring, tol=1e-10).fit(X, y)
    scorer = get_scorer(scoring or "accuracy")
    for f, (train, test) in enumerate(folds):
        for r, ratio in enumerate((0.0, 1.0)):
            for k, C in enumerate((1.0, 0.01)):
                single = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-10).fit(X[train], y[train])
                assert model.scores_[f, r, k] == pytest.approx(scorer(single, X[test], y[test]), abs=1e-4)
    final = LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, final.coef_, atol=1e-6)
    model.verify(X, y)


def test_one_standard_error_rule_takes_a_stronger_penalty_and_threads_change_nothing():
    X, y = load_iris(return_X_y=True)
    best = LogisticRegressionCV(Cs=6).fit(X, y)
    strong = LogisticRegressionCV(Cs=6, rule="1se", n_jobs=2).fit(X, y)
    assert strong.C_ <= best.C_
    np.testing.assert_array_equal(strong.scores_, best.scores_)


def test_bad_values():
    X, y = problem()
    with pytest.raises(InvalidParameter, match="Cs must be a count or a list of finite numbers > 0"):
        LogisticRegressionCV(Cs=[0.0]).fit(X, y)
    with pytest.raises(InvalidParameter, match="l1_ratios must be a list of numbers from 0 to 1"):
        LogisticRegressionCV(l1_ratios=[2.0]).fit(X, y)
    with pytest.raises(SurefitError, match="the fit ended before all folds were compared"):
        LogisticRegressionCV(max_time=1e-6).fit(X, y)
