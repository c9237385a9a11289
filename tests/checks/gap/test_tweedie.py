"""The checker's Tweedie terms are upper bounds of the true ones, and tight; exact values by arithmetic of fifty digits."""

import mpmath
import numpy as np
import pytest
from tests.forging import fitted, verified_strictly
from tests.hard_data import hard_data

from surefit import GammaRegressor, TweedieRegressor
from surefit.checks.gap import Entropic, exponentials, rows
from surefit.checks.gap.tweedie import Tweedie
from surefit.checks.gap.verbs import excess, slope

mpmath.mp.dps = 50


def true_term(power, y, z, at):
    """Fenchel-Young term of score z and of the slope at another score: the difference of the loss from its tangent."""
    a, b, y, z, at = mpmath.mpf(power) - 1, 2 - mpmath.mpf(power), mpmath.mpf(y), mpmath.mpf(z), mpmath.mpf(at)
    fall = [(y * mpmath.exp(-a * t) / a if a else -y * t) for t in (z, at)]
    rise = [(mpmath.exp(b * t) / b if b else t) for t in (z, at)]
    tangent = (mpmath.exp(b * at) - y * mpmath.exp(-a * at)) * (z - at)
    return fall[0] + rise[0] - fall[1] - rise[1] - tangent


@pytest.mark.parametrize("power", [1.0, 1.0625, 1.5, 1.875, 2.0])
@pytest.mark.parametrize("y", [0.0, 0.125, 3.0, 1e4])
def test_terms_bound_the_true_ones(power, y):
    if y == 0.0 and power == 2.0:
        y = 1e-3
    for z in np.linspace(-6, 8, 15):
        for move in (0.0, 1e-9, -1e-4, 0.25, -3.0):
            at = z + move
            g = slope(Tweedie(power), y, at, 0.0)
            found, true = excess(Tweedie(power), y, z, g), float(true_term(power, y, z, at))
            # The slope is rounded: its own error moves the tangent by at most this much.
            rounding = 1e-15 * (np.exp((2 - power) * at) + y * np.exp((1 - power) * at)) * (abs(move) + 1e-12)
            assert found >= true * (1 - 1e-12) - rounding
            if abs(move) >= 1e-4:
                assert found <= true * 1.02 + 1e-9 * abs(g)


@pytest.mark.parametrize("data", hard_data(n=24), ids=lambda data: data.name)
def test_honest_models_pass_on_hard_data(data):
    scale = 1.0 / max(1.0, float(np.abs(data.y).max()))
    y = np.exp(data.y * scale)
    for model in (TweedieRegressor(power=1.5), GammaRegressor()):
        verified_strictly(fitted(model, data.X, y, data.weights), data.X, y, data.weights)


def exact_loss(power, y, z):
    """Half the deviance, by arithmetic of fifty digits."""
    a, b, y, z = mpmath.mpf(power) - 1, 2 - mpmath.mpf(power), mpmath.mpf(y), mpmath.mpf(z)
    if a == 0:
        return mpmath.exp(z) - y * z - y + (y * mpmath.log(y) if y else 0)
    if b == 0:
        return y * mpmath.exp(-z) + z - mpmath.log(y) - 1
    return y * mpmath.exp(-a * z) / a + mpmath.exp(b * z) / b - y**b / (a * b)


def sample_of(power, n=400):
    rng = np.random.default_rng(3)
    z = rng.uniform(-6, 6, size=n)
    y = np.where((rng.random(n) < 0.3) & (power < 2.0), 0.0, rng.gamma(1.0, np.exp(z)) + 1e-6)
    return y, rng.uniform(0.0, 2.0, size=n) * (rng.random(n) < 0.9), z


@pytest.mark.parametrize("power", [1.0, 1.0625, 1.5, 1.875, 2.0])
@pytest.mark.parametrize("offset", [0.0, 1e-9, -4e-3])
def test_sums_over_all_rows_bound_the_true_ones(power, offset):
    """Bounds for all rows at once enclose exact sums, at the score and at the ends of its interval, and are tight."""
    loss, (y, c, z) = Tweedie(power), sample_of(power)
    g, rad, none = rows.slopes(loss, y, z + offset, 0.0)[0], 1e-12 * (1 + np.abs(z)), np.zeros(len(y))
    assert loss.rates is not None
    terms = exponentials.row_sums(loss.rates, y, c, z, rad, g, none, none, none)
    losses = exponentials.loss_sums(loss.rates, y, c, z, rad, none)
    assert terms is not None and losses is not None
    for sign in (-1, 0, 1):
        moved = z + sign * rad
        true = sum(float(c_i * true_term(power, *row)) for c_i, *row in zip(c, y, moved, z + offset, strict=True))
        # the slopes are rounded: their errors move the tangents
        rounding = 1e-15 * float(c @ (np.abs(g) + y + 1)) * (abs(offset) + 1e-11)
        assert terms[1] >= true * (1 - 1e-9) - rounding
        exact = sum(c_i * exact_loss(power, *row) for c_i, *row in zip(c, y, moved, strict=True))
        assert losses[1] >= exact >= losses[0] * (1 - 1e-9)
    true = sum(float(c_i * true_term(power, *row)) for c_i, *row in zip(c, y, z, z + offset, strict=True))
    assert terms[0] <= 1.05 * true + 1e-25 * float(c @ (y + np.exp(z) + 1))
    assert losses[1] <= losses[0] * (1 + 1e-9)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_all_rows_at_once_agree_with_the_loops_for_any_loss(power):
    loss, (y, c, z) = Tweedie(power), sample_of(power)
    own, none = loss.rates, np.zeros(len(y))
    np.testing.assert_allclose(exponentials.slopes(own, y, z), rows._slopes(loss, y, z, 0.0), rtol=1e-13, atol=1e-13)
    assert exponentials.best_offset(own, y, c, z) == pytest.approx(rows._best_offset(loss, y, c, z), abs=1e-12)
    moves, g = 1e-9 * np.abs(z), exponentials.slopes(own, y, z)[0]
    assert np.all(exponentials.slope_moves(own, y, z, moves) >= rows._slope_moves(loss, y, z, 0.0, g, moves))
    found, upper = exponentials.loss_sums(own, y, c, z, none, none), rows._loss_sums(loss, y, c, z, none, none)[0]
    loops = rows._row_sums(loss, y, c, z, *(none,) * 5)  # near its minimum they bound the loss by a parabola
    np.testing.assert_allclose(found, loops, rtol=1e-6)
    assert found[1] <= min(loops[1], upper) * (1 + 1e-12)
    assert rows.exact_losses(loss, y, c, z) == found[:2] and rows.loss_sums(loss, y, c, z, none, none) == found[1:]


def test_rows_that_are_far_away_take_the_loops_for_any_loss():
    loss, (y, c, z) = Tweedie(1.5), sample_of(1.5)
    own, none = loss.rates, np.zeros(len(y))
    g = exponentials.slopes(own, y, z + 0.5)[0]
    assert exponentials.row_sums(own, y, c, z, none, g, none, none, none) is None
    assert exponentials.slope_moves(own, y, z, none + 0.5) is None
    assert exponentials.loss_sums(own, y, c, z, none + 0.5, none) is None
    assert exponentials.best_offset(own, 0.0 * y, c, z) is None
    assert rows.row_sums(loss, y, c, z, none, g, none, none, none) == rows._row_sums(
        loss, y, c, z, none, g, *(none,) * 3
    )
    assert Tweedie(1.001).rates is None and Entropic(True).rates is None and Entropic(False).rates == (0.0, 1.0)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_sums_at_a_constant_score_are_those_of_separate_passes(power):
    rng = np.random.default_rng(5)
    loss, y, c = Tweedie(power), rng.gamma(2.0, 1.0, 700), rng.uniform(0.1, 1.0, 700)
    z, zero = np.full(700, 0.3), np.zeros(700)
    plain, upper, other = rows.constant_sums(loss, y, c, z, 1e-6)
    np.testing.assert_allclose((plain, upper), rows.exact_losses(loss, y, c, z), rtol=1e-13)
    assert sum(c_i * exact_loss(power, y_i, 0.3) for c_i, y_i in zip(c, y, strict=True)) <= upper
    terms = rows.row_sums(loss, y, c, z, zero, rows.slopes(loss, y, z, 0.0)[0], zero, zero + 1e-6, zero)
    np.testing.assert_allclose(other, terms[2], rtol=1e-6)
    assert plain <= upper and other > 0.0


def test_a_row_whose_exponentials_underflow_is_not_free():
    loss, y, z, c = Tweedie(1.5), np.zeros(1), np.array([-1500.0]), np.ones(1)
    g, none = exponentials.slopes(loss.rates, y, np.ones(1))[0], np.zeros(1)
    assert exponentials.row_sums(loss.rates, y, c, z, none, g, none, none, none) is None
    assert rows.row_sums(loss, y, c, z, none, g, none, none, none)[1] >= float(true_term(1.5, 0.0, z[0], 1.0)) > 1000
