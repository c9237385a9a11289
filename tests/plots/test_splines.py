"""The pictures of splines show the numbers of the models."""

import numpy as np
import pytest

from surefit import FilterFactorDisplay, InvalidData, SmoothingSpline, SplineFamilyDisplay, filter_factors

X = np.linspace(0.02, 1, 50)
Y = np.sin(6 * X) + 0.2 * np.random.default_rng(0).standard_normal(50)


def test_family_shows_curves_band_and_criterion():
    display = SplineFamilyDisplay.from_data(X, Y, SmoothingSpline(lam="reml"), factors=(0.01, 100)).plot()
    model = SmoothingSpline(lam="reml").fit(X, Y)
    t = display.line_.get_xdata()
    assert np.array_equal(display.line_.get_ydata(), model.predict(t))
    assert np.array_equal(display.criterion_line_.get_ydata(), model.criterion_values_)
    assert display.chosen_line_.get_xdata()[0] == model.lam_
    other = SmoothingSpline(lam=100 * model.lam_).fit(X, Y)
    assert np.allclose(display.other_lines_[1].get_ydata(), other.predict(t))
    heights = np.concatenate([path.vertices[:, 1] for path in display.band_.get_paths()])
    low, high = model.interval(t)
    assert heights.min() == pytest.approx(low.min()) and heights.max() == pytest.approx(high.max())


def test_family_defaults_to_a_cubic_spline_and_needs_a_criterion():
    assert SplineFamilyDisplay.from_data(X, Y).model.degree == 3
    with pytest.raises(InvalidData, match="lam chosen by a criterion; got lam=0.1 with 1 targets"):
        SplineFamilyDisplay(X, Y, SmoothingSpline(lam=0.1).fit(X, Y))


def test_filter_shows_factors_and_step():
    model = SmoothingSpline(1, lam=1e-3, form="special").fit(X, Y)
    display = FilterFactorDisplay([model], n_terms=7).plot()
    assert np.array_equal(display.lines_[0].get_ydata(), filter_factors(model))
    assert display.step_.get_ydata().sum() == 7
    assert FilterFactorDisplay([model]).plot().step_ is None
