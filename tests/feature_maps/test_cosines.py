"""Cosines and sines by polynomials: the math library's values to rounding, at multiples of pi / 2 and for large angles too."""

import numpy as np
import pytest

from surefit.feature_maps.cosines import LARGEST, cosines, sines

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0, 3e4])
def test_values_are_those_of_the_math_library(scale):
    x = np.concatenate([RNG.normal(size=5000) * scale, np.round(RNG.normal(size=500) * scale) * np.pi / 2])
    x = np.clip(x, -LARGEST, LARGEST)
    assert np.max(np.abs(cosines(x.copy()) - np.cos(x))) <= 4 * 2.0**-53
    np.testing.assert_allclose(sines(x.copy()), np.sin(x), rtol=8 * 2.0**-53, atol=0)


def test_large_angles_use_the_math_library():
    x = np.array([[1.0, 2e5], [1e300, -3.0]])
    assert np.array_equal(cosines(x.copy()), np.cos(x)) and np.array_equal(sines(x.copy()), np.sin(x))


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_changed_in_place_with_one_offset_per_column(order):
    x = np.array(RNG.normal(size=(7, 3)), order=order)
    offset = np.array([0.1, 0.2, 0.3])
    wanted = np.cos(x + offset)
    assert cosines(x, offset) is x
    np.testing.assert_allclose(x, wanted, rtol=1e-14)
    assert cosines(np.empty((0, 3)), offset).shape == (0, 3)
