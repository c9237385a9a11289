"""scikit-learn's own checks on every public estimator, without a single expected failure."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import surefit


def public_estimators():
    classes = (getattr(surefit, name) for name in surefit.__all__)
    return [cls for cls in classes if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]


def takes_tables(estimator):
    """False for an estimator of one variable (the tags say so): scikit-learn cannot feed it, its own tests do."""
    return estimator.__sklearn_tags__().input_tags.two_d_array


# The checks fit whatever data they like with default parameters; an estimator that says so in a warning is right.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.FitFailedWarning",
    "ignore:Scoring failed:UserWarning",
    "ignore:One or more of the test scores are non-finite:UserWarning",
    "ignore::surefit.core.errors.DataWarning",
)
@parametrize_with_checks([cls() for cls in public_estimators() if takes_tables(cls())])
def test_scikit_learn_checks(estimator, check):
    np.random.seed(1)
    check(estimator)


@pytest.mark.parametrize("cls", public_estimators())
def test_every_parameter_has_a_rule_and_a_line_in_the_docstring(cls):
    parameters = list(inspect.signature(cls.__init__).parameters)[1:]
    assert set(parameters) <= set(cls._rules), f"{cls.__name__}: no rule for {set(parameters) - set(cls._rules)}"
    for name in parameters:
        assert name in cls.__doc__, f"{cls.__name__}: {name} is not documented"
