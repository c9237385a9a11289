"""The picture of projections."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

from surefit import FisherDiscriminant, FisherDisplay, LinearDiscriminantAnalysis
from surefit.core.errors import InvalidData
from surefit.data import make_two_gaussians, make_two_triangles


def test_histograms_hold_every_row_and_the_title_counts_errors():
    X, y, _ = make_two_gaussians(200, random_state=0)
    model = FisherDiscriminant().fit(X, y)
    display = FisherDisplay.from_estimator(model, X, y).plot(bins=20)
    assert sum(bar.get_height() for bars in display.bars_ for bar in bars) == 200
    assert display.errors_ == np.sum(model.predict(X) != y)
    assert display.ax_.get_title() == f"{display.errors_} of 200 rows on the wrong side"
    assert display.cut_line_.get_xdata()[0] == 0.0


def test_distances_are_those_of_the_picture():
    X, y, _ = make_two_triangles(epsilon=0.2)
    display = FisherDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert np.sort(display.projections) == pytest.approx(np.sort(-X[:, 0]), abs=1e-12)
    display.plot(matplotlib.pyplot.subplots()[1])


def test_other_models_are_refused():
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(InvalidData, match="not a fitted linear classifier with two classes"):
        FisherDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, np.arange(30) % 3), X, np.arange(30) % 3)
    with pytest.raises(InvalidData, match="one projection and one class per row"):
        FisherDisplay([1.0, 2.0], [True])
