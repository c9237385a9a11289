"""Diamond and disc: contact points known by hand, and the optimality conditions at any contact point."""

from itertools import pairwise

import numpy as np
import pytest

from surefit import EstimationPictureDisplay
from surefit.core.errors import InvalidData, InvalidParameter

rng = np.random.default_rng(1)
X = rng.normal(size=(40, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])
y = X @ np.array([1.2, 0.5]) + 0.3 * rng.normal(size=40) + 2.0


def test_orthonormal_columns_by_hand():
    display = EstimationPictureDisplay.from_data(np.eye(2), [3.0, 0.4], penalty=1.0)
    lasso, ridge = display.panels
    assert lasso.solution == pytest.approx([2.5, 0.0], abs=1e-6)
    assert lasso.solution[1] == 0.0  # exactly: that is the point of the picture
    assert ridge.solution == pytest.approx([1.5, 0.2], abs=1e-6)
    assert display.least_squares == pytest.approx([3.0, 0.4])


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("radius", [0.3, 0.8])
def test_solutions_touch_their_sets(radius, fit_intercept):
    display = EstimationPictureDisplay.from_data(X, y, radius=radius, fit_intercept=fit_intercept)
    lasso, ridge = display.panels
    assert np.abs(lasso.solution).sum() == pytest.approx(radius, rel=1e-6)
    assert np.linalg.norm(ridge.solution) == pytest.approx(radius, rel=1e-6)
    # at the contact the slope of the error points against the outward normal of the disc
    slope = display.gram @ (ridge.solution - display.least_squares)
    normal = ridge.solution / radius
    assert slope @ normal < 0
    assert slope[0] * normal[1] - slope[1] * normal[0] == pytest.approx(0.0, abs=1e-4 * np.linalg.norm(slope))
    # no point of the diamond has a smaller error
    t = np.linspace(0, 1, 2001)[:, None]
    corners = radius * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    edges = np.vstack([(1 - t) * a + t * b for a, b in pairwise(corners)])
    assert display.error_above_minimum(edges).min() >= display.error_above_minimum(lasso.solution) * (1 - 1e-5)


def test_error_is_the_sum_of_squares_above_its_minimum():
    display = EstimationPictureDisplay.from_data(X, y, penalty=5.0)
    w = np.array([0.3, -0.7])
    best = np.linalg.lstsq(X, y, rcond=None)
    expected = np.sum((y - X @ w) ** 2) - best[1][0]
    assert display.error_above_minimum(w) == pytest.approx(expected)
    assert display.least_squares == pytest.approx(best[0])


def test_drawing_shows_sets_points_and_the_touching_ellipse():
    display = EstimationPictureDisplay.from_data(X, y, radius=0.8, fit_intercept=True).plot()
    diamond, disc = display.regions_
    corners = {tuple(corner) for corner in np.round(diamond.get_xy(), 6)}
    assert corners == {(0.8, 0.0), (0.0, 0.8), (-0.8, 0.0), (0.0, -0.8)}
    assert disc.get_radius() == pytest.approx(0.8)
    for panel, point, center, contours, ax in zip(
        display.panels, display.solutions_, display.centers_, display.contours_, display.axes_, strict=True
    ):
        assert np.ravel(point.get_data()) == pytest.approx(panel.solution)
        assert np.ravel(center.get_data()) == pytest.approx(display.least_squares)
        assert display.error_above_minimum(panel.solution) == pytest.approx(contours.levels[-1])
        left, right = ax.get_xlim()
        assert left < -0.8 and right > max(0.8, display.least_squares[0])


@pytest.mark.parametrize("options", [{}, {"penalty": 1.0, "radius": 1.0}])
def test_exactly_one_of_penalty_and_radius(options):
    with pytest.raises(InvalidParameter, match="penalty must be a number if radius is None"):
        EstimationPictureDisplay.from_data(X, y, **options)


def test_two_independent_columns_are_needed():
    with pytest.raises(InvalidData, match="two columns"):
        EstimationPictureDisplay.from_data(X[:, :1], y, radius=1.0)
    with pytest.raises(InvalidData, match="linearly independent"):
        EstimationPictureDisplay.from_data(X[:, [0, 0]], y, radius=1.0)
