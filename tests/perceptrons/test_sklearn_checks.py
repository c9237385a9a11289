"""scikit-learn's checks on settings that take another road than the defaults, which the contract tests cover."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from surefit import AveragedPerceptron, KernelPerceptron, Perceptron

ESTIMATORS = [
    Perceptron(multi_class="joint", bias="augmented", bias_constant=2.0),
    AveragedPerceptron(multi_class="joint"),
    KernelPerceptron(kernel="precomputed"),
]


# Steps of 1000 against 0.0001 (a check of class_weight) do not settle in 1000 passes, and kernel values with one decimal
# lead to margins within rounding of zero; saying so is right.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::surefit.DataWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
