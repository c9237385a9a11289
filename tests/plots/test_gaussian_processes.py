"""The pictures of Gaussian processes show the numbers of the models."""

import numpy as np
import pytest

from surefit import GaussianProcessDisplay, GaussianProcessRegressor, InvalidData, LengthScaleDisplay
from surefit.kernels import RBF

X = np.linspace(0, 3, 9)[:, None]
Y = np.sin(X[:, 0])


def test_mean_band_draws_and_data():
    model = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.01).fit(X, Y)
    display = GaussianProcessDisplay.from_estimator(model, n_draws=2).plot()
    t = display.line_.get_xdata()
    mean, deviation = model.predict(t[:, None], return_std=True)
    assert np.array_equal(display.line_.get_ydata(), mean)
    heights = np.concatenate([path.vertices[:, 1] for path in display.band_.get_paths()])
    assert heights.max() == pytest.approx(np.max(mean + 2 * deviation))
    assert len(display.draw_lines_) == 2 and np.allclose(display.points_.get_offsets()[:, 1], Y)
    with pytest.raises(InvalidData, match="one column and one target"):
        GaussianProcessDisplay.from_estimator(GaussianProcessRegressor(alpha=1.0).fit(np.eye(3), np.ones(3)))


def test_one_panel_a_length():
    Z = np.random.default_rng(0).uniform(size=(20, 2))
    display = LengthScaleDisplay(Z, Z[:, 0] > 0.5, lengths=(0.1, 0.4)).plot(points=15)
    assert len(display.axes_) == 3 and display.axes_[1].get_title() == "length 0.1"
    assert np.all((display.probabilities_[0] > 0) & (display.probabilities_[0] < 1))
    with pytest.raises(InvalidData, match="two columns and two classes"):
        LengthScaleDisplay(X, Y > 0)
