"""The gap picture: the line is the history, the dotted line is what was asked for."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from surefit import GapDisplay, Lasso
from surefit.core.errors import InvalidData

X, y = load_diabetes(return_X_y=True)


def test_line_is_the_history_and_the_limit_that_of_the_certificate():
    model = Lasso(alpha=0.01).fit(X, y)
    display = GapDisplay.from_estimator(model).plot()
    positive = model.history_[:, 2] > 0
    assert np.array_equal(display.line_.get_xdata(), model.history_[:, 0])
    assert np.array_equal(display.line_.get_ydata()[positive], model.history_[positive, 2])
    limit = model.certificate_["linear.gap"].limit
    assert display.tolerance_line_.get_ydata() == [limit, limit]
    assert display.ax_.get_yscale() == "log"
    assert display.line_.get_label() == "Lasso"


def test_gap_of_zero_is_written_not_drawn():
    display = GapDisplay([0.1, 0.2, 0.3], [1.0, 0.5, 0.0]).plot()
    assert np.array_equal(display.line_.get_ydata(), [1.0, 0.5, np.nan], equal_nan=True)
    assert display.zero_text_.get_text() == "gap 0 after 0.3 s"
    assert display.tolerance_line_ is None


def test_no_zero_no_text():
    assert GapDisplay([0.1], [1.0], tolerance=2.0).plot().zero_text_ is None


def test_shapes_are_checked():
    with pytest.raises(InvalidData, match="two lists of equal length"):
        GapDisplay([0.1, 0.2], [1.0])
