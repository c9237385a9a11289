"""Ctrl-C and time limits at random moments, for some estimators; for all of them by ``make reliability``."""

import pytest
from tests.reliability.interrupts import faults

import surefit

ITERATIVE = (
    "Lasso", "LogisticRegression", "SVC", "MLPRegressor", "HistGradientBoostingClassifier", "KMeans", "Perceptron",
    "KernelLogisticRegression",     "GridSearchCV", "Certified",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::surefit.core.errors.DataWarning")
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", ITERATIVE)
def test_interrupted_fit_is_usable_or_raises_and_the_next_one_is_the_same(name):
    assert not faults(getattr(surefit, name), tries=4, seed=0)
