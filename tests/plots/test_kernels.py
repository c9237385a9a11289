"""The picture of a Gram matrix shows its values, its blocks, and eigenvalues that should not be there."""

import numpy as np
import pytest

from surefit import GramDisplay
from surefit.core.errors import InvalidData
from surefit.kernels import RBF, StringSubsequence

X = np.array([[0.0], [5.0], [0.2], [5.1]])


def test_rows_are_sorted_by_label():
    display = GramDisplay.from_kernel(RBF(), X, ["b", "a", "b", "a"]).plot()
    order = [1, 3, 0, 2]
    assert np.array_equal(display.image_.get_array(), RBF()(X)[np.ix_(order, order)])
    assert display.labels.tolist() == ["a", "a", "b", "b"]
    assert [line.get_ydata()[0] for line in display.ax_.lines] == [1.5, 0.0]
    assert display.points_ is None


def test_spectrum_tells_the_signs():
    M = np.array([[1.0, 2.0], [2.0, 1.0]])
    display = GramDisplay(M).plot(spectrum=True)
    above, below = display.points_
    assert above.get_ydata() == pytest.approx([3.0]) and below.get_ydata() == pytest.approx([1.0])
    assert below.get_xdata().tolist() == [2]
    assert display.spectrum_ax_.get_yscale() == "log"


def test_strings_and_given_axes():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    display = GramDisplay.from_kernel(StringSubsequence(2), ["cat", "car", "bar"]).plot(axes, spectrum=True)
    assert display.figure_ is figure and display.ax_ is axes[0]


def test_bad_input():
    with pytest.raises(InvalidData, match="square matrix"):
        GramDisplay(np.ones((2, 3)))
    with pytest.raises(InvalidData, match="expected 2 labels"):
        GramDisplay(np.eye(2), [1])
    with pytest.raises(InvalidData, match="4 labels"):
        GramDisplay.from_kernel(RBF(), X, [1, 2])
