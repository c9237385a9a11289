"""Pictures of descents show the iterates and the values that the outcomes hold."""

import numpy as np
import pytest

from surefit import DescentDisplay, GradientDescent, InvalidData, StepSizeDisplay
from surefit.optimizers import GradientNorm, Quadratic

BOWL = Quadratic([[4.0, 1.0], [1.0, 1.0]], [1.0, 0.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_paths_and_values_are_those_of_the_outcomes():
    runs = {
        "short": GradientDescent(0.01, max_iter=20).minimize(BOWL, [2.0, 2.0]),
        "good": GradientDescent(stopping=GradientNorm(1e-4)).minimize(BOWL, [2.0, 2.0]),
        "long": GradientDescent(0.6, any_step=True, max_iter=200).minimize(BOWL, [2.0, 2.0]),
    }
    display = DescentDisplay(BOWL, runs).plot()
    for line, outcome in zip(display.lines_, runs.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), outcome.path)
    curves = StepSizeDisplay(runs).plot()
    assert [line.get_label() for line in curves.lines_] == [
        "short (max iter)",
        "good (gradient norm)",
        "long (diverged)",
    ]
    np.testing.assert_allclose(curves.lines_[0].get_ydata(), runs["short"].history[:, 1] - runs["good"].value)
    assert curves.lines_[2].get_ydata()[-1] > 1e6 and curves.ax_.get_yscale() == "log"


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InvalidData, match="two variables"):
        DescentDisplay(Quadratic(np.eye(3)), {})
    with pytest.raises(InvalidData, match="at least one"):
        StepSizeDisplay({})
