"""Intervals of the optimal intercept, against the exact derivative of the objective."""

from fractions import Fraction

import numpy as np
import pytest

from surefit.checks.gap import Piecewise
from surefit.checks.intercepts import offset_interval

HINGE = Piecewise(np.inf, 0.0, -1.0, 0.0, True, 1.0)


def derivative(y, c, f, b) -> Fraction:
    """Derivative of the hinge losses in the intercept, in rational numbers; from the right at a kink."""
    inside = [Fraction(s) * (Fraction(z) + Fraction(b)) < 1 for s, z in zip(y, f, strict=True)]
    return sum((-Fraction(s) * Fraction(w) for s, w, i in zip(y, c, inside, strict=True) if i), Fraction(0))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_is_outside_by_the_exact_derivative_and_tight(seed, weighted):
    rng = np.random.default_rng(seed)
    n = 41
    y, f = np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.standard_normal(n) * 10.0 ** rng.integers(-2, 3)
    c = rng.random(n) if weighted else np.ones(n)
    low, high = offset_interval(HINGE, y, c, f, np.zeros(n))
    near = 1e-9 * (1 + np.max(np.abs(f)))
    assert derivative(y, c, f, low) < 0 < derivative(y, c, f, high)
    assert derivative(y, c, f, low + near) >= 0 >= derivative(y, c, f, high - near)


def test_a_radius_widens_the_interval_and_one_class_has_no_end():
    y, f = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.2, -0.1, 0.4, -0.3])
    low, high = offset_interval(HINGE, y, np.ones(4), f, np.zeros(4))
    wide = offset_interval(HINGE, y, np.ones(4), f, np.full(4, 0.5))
    assert wide[0] <= low - 0.4
    assert wide[1] >= high + 0.4
    assert offset_interval(HINGE, np.ones(4), np.ones(4), f, np.zeros(4))[1] == np.inf
