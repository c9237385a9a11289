"""Pictures of perceptrons: what is drawn is what was computed."""

import numpy as np
import pytest
from scipy import sparse

from surefit import MarginHistogramDisplay, MistakeBoundDisplay, Perceptron, UpdatePathDisplay
from surefit.core.errors import InvalidData
from surefit.data import make_two_gaussians

X, y, _ = make_two_gaussians(80, random_state=3)


def test_path_draws_one_line_an_update_and_the_last_thick():
    model = Perceptron(shuffle=False, max_iter=4, tol=None, eta0=0.5).fit(X, y)
    display = UpdatePathDisplay.from_estimator(model, X, y).plot(box=2.0)
    assert len(display.lines_) == model.n_updates_
    assert display.weights[-1] == pytest.approx([*model.coef_[0], *model.intercept_])
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == (-2.0, 2.0)
    assert display.final_line_.get_linewidth() > display.lines_[0].get_linewidth()
    for line, (w1, w2, b) in zip(display.lines_, display.weights[1:], strict=True):
        assert w1 * line.get_xdata() + w2 * line.get_ydata() + b == pytest.approx([0, 0], abs=1e-8)


def test_vertical_lines_and_zero_weights():
    display = UpdatePathDisplay(X, y, [[0, 0, 0], [0, 0, 1], [2, 0, -1]]).plot()
    assert len(display.lines_) == 1
    assert display.lines_[0].get_xdata() == pytest.approx([0.5, 0.5])
    assert UpdatePathDisplay(X, y, [[0, 0, 0]]).plot().final_line_ is None


def test_path_needs_the_plane_two_classes_and_a_whole_log():
    wide = np.column_stack([X, X])
    with pytest.raises(InvalidData, match="points in the plane"):
        UpdatePathDisplay.from_estimator(Perceptron().fit(wide, y), wide, y)
    cut = Perceptron(max_log=2, max_iter=3, tol=None).fit(X, y)
    with pytest.raises(InvalidData, match="log of mistakes is incomplete"):
        UpdatePathDisplay.from_estimator(cut, X, y)
    three = np.arange(80) % 3
    with pytest.raises(InvalidData, match="two classes"):
        UpdatePathDisplay.from_estimator(Perceptron(max_iter=2, tol=None).fit(X, three), X, three)


def test_histogram_counts_all_rows_and_marks_the_smallest():
    model = Perceptron().fit(X, y)
    display = MarginHistogramDisplay.from_estimator(model, sparse.csr_array(X), y).plot(bins=10)
    expected = y * (X @ model.coef_[0] + model.intercept_[0]) / np.linalg.norm(model.coef_[0])
    assert display.margins == pytest.approx(expected)
    assert sum(bar.get_height() for bar in display.bars_) == 80 and len(display.bars_) == 10
    assert display.smallest_line_.get_xdata()[0] == pytest.approx(expected.min())
    assert f"{np.sum(expected <= 0)} of 80 rows" in display.ax_.get_title()


def test_histogram_needs_margins():
    with pytest.raises(InvalidData, match="list of margins"):
        MarginHistogramDisplay([])
    model = Perceptron(mistake="<0", fit_intercept=False).fit(X, y)
    with pytest.raises(InvalidData, match="weights are zero"):
        MarginHistogramDisplay.from_estimator(model, X, y)


def test_growth_lies_between_its_bounds_which_cross_at_the_mistake_bound():
    model = Perceptron(shuffle=False, tol=None).fit([[1.0], [2.0]], [-1, 1])
    display = MistakeBoundDisplay.from_estimator(model).plot()
    j = np.arange(1, 14)
    assert np.all(j * display.gamma <= display.norms * (1 + 1e-9))
    assert np.all(display.norms <= np.sqrt(j) * display.radius)
    assert display.bound == pytest.approx(65)
    assert np.sqrt(display.bound) * display.radius == pytest.approx(display.bound * display.gamma)
    assert display.norm_line_.get_ydata() == pytest.approx(display.norms)
    assert display.bound_line_.get_xdata()[0] == display.bound


def test_growth_without_separation_has_no_lower_line():
    model = Perceptron(max_iter=5, tol=None, shuffle=False, eta0=2.0).fit(X, np.arange(80) % 2)
    display = MistakeBoundDisplay.from_estimator(model).plot()
    assert display.lower_line_ is None and display.bound_line_ is None and np.isinf(display.bound)
    assert np.all(display.norms <= np.sqrt(np.arange(1, len(display.norms) + 1)) * display.radius * (1 + 1e-9))


def test_growth_needs_updates_and_a_start_from_zero():
    with pytest.raises(InvalidData, match="no update"):
        MistakeBoundDisplay([], 1.0)
    with pytest.raises(InvalidData, match="start from zero"):
        MistakeBoundDisplay.from_estimator(Perceptron(max_iter=1, tol=None).fit(X, y, coef_init=[[1.0, 0.0]]))
