"""The checker's Tweedie terms are upper bounds of the true ones, and tight; exact values by arithmetic of fifty digits."""

import mpmath
import numpy as np
import pytest
from tests.forging import fitted, verified_strictly
from tests.hard_data import hard_data

from surefit import GammaRegressor, TweedieRegressor
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
