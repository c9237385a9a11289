"""Pictures of boosting: what is drawn is what the model holds."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surefit import AdaBoostClassifier, BoostingCurvesDisplay, MarginDistributionDisplay
from surefit.core.errors import InvalidData
from surefit.data import make_chi2_10

X, Y, _ = make_chi2_10(400, random_state=0)


@pytest.fixture(scope="module")
def model():
    return AdaBoostClassifier(n_estimators=15).fit(X[:200], Y[:200])


def test_curves_are_those_of_the_fit_in_their_order(model):
    display = BoostingCurvesDisplay.from_estimator(model, X[200:], Y[200:]).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), model.training_errors_)
    np.testing.assert_array_equal(display.bound_line_.get_ydata(), model.bounds_)
    assert np.all(display.exponential_line_.get_ydata() >= display.bound_line_.get_ydata() - 1e-12)
    assert display.test_line_.get_ydata()[-1] == pytest.approx(1 - model.score(X[200:], Y[200:]))
    assert display.ax_.get_xlabel() == "round"


def test_a_logarithmic_axis_and_no_test_rows(model):
    display = BoostingCurvesDisplay.from_estimator(model).plot(log=True)
    assert display.ax_.get_yscale() == "log"
    assert display.test_line_ is None
    shrunk = AdaBoostClassifier(n_estimators=5, learning_rate=0.5).fit(X, Y)
    assert BoostingCurvesDisplay.from_estimator(shrunk).plot().exponential_line_ is None


def test_margins_are_distribution_functions(model):
    display = MarginDistributionDisplay.from_estimator(model, X[:200], Y[:200]).plot()
    assert len(display.lines_) == 4
    last = display.lines_[-1]
    np.testing.assert_allclose(last.get_xdata(), np.sort(model.margins(X[:200], Y[:200])))
    assert last.get_ydata()[-1] == 1
    below = np.mean(last.get_xdata() <= 0)
    assert below == pytest.approx(model.training_errors_[-1])


def test_odd_input_is_refused(model):
    with pytest.raises(InvalidData, match="one per round"):
        BoostingCurvesDisplay([0.1, 0.2], [0.3])
    with pytest.raises(InvalidData, match="at least one round"):
        MarginDistributionDisplay({})
    with pytest.raises(InvalidData, match="two classes"):
        MarginDistributionDisplay.from_estimator(
            AdaBoostClassifier(n_estimators=3).fit(*load_iris(return_X_y=True)), X, Y
        )
