"""Pictures of networks: what is drawn is what the model holds."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surefit import ActivationsDisplay, LossCurveDisplay, MLPClassifier, NetworkDisplay, zip_net
from surefit.core.errors import InvalidData

X, y = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_curves_are_those_of_the_fit():
    model = MLPClassifier((5,), max_iter=7, random_state=0).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    display = LossCurveDisplay.from_estimator(model).plot()
    assert display.line_.get_ydata().tolist() == model.loss_curve_
    assert display.validation_line_.get_ydata().tolist() == model.validation_loss_curve_
    assert display.best_line_.get_xdata()[0] == 1 + np.argmin(model.validation_loss_curve_)
    alone = LossCurveDisplay.from_estimator(MLPClassifier((5,), max_iter=2, random_state=0).fit(X, y)).plot()
    assert alone.validation_line_ is None and alone.best_line_ is None
    with pytest.raises(InvalidData, match="must be a list of numbers"):
        LossCurveDisplay([])


def test_links_drawn_are_those_of_the_table():
    mask = np.eye(3, 4, dtype=bool)
    display = NetworkDisplay(MLPClassifier((4,), links=[mask, None]).architecture(3, 2)).plot()
    assert [len(links.get_segments()) for links in display.links_] == [3, 8]
    assert display.ax_.get_xlabel() == "17 links, 17 parameters"
    large = NetworkDisplay(zip_net(4).architecture(256, 10)).plot()
    assert len(large.links_[2].get_segments()) == 16 * 10 and "1132 parameters" in large.ax_.get_xlabel()


def test_sigmoids_are_drawn_with_their_limits():
    display = ActivationsDisplay(["standard", "logistic"]).plot()
    assert display.lines_[0].get_ydata()[-1] == pytest.approx(np.tanh(3))
    assert display.lines_[1].get_ydata()[300] == 0.5
    with pytest.raises(InvalidData, match="names must be among"):
        ActivationsDisplay(["sine"])
