"""Finite features of the Gaussian kernel: power series with its error, and densities with their integral."""

import numpy as np
import pytest

from surefit import InvalidData, InvalidParameter
from surefit.kernels import (
    RBF,
    gaussian_density_feature,
    gaussian_density_product,
    gaussian_features,
    gaussian_features_error,
)


@pytest.mark.parametrize(("d", "gamma"), [(1, 0.5), (1, 2.0), (3, 0.3)])
def test_power_series_approaches_the_kernel_with_its_stated_error(d, gamma):
    X = np.random.default_rng(d).standard_normal((8, d))
    exact = RBF(gamma=gamma)(X)
    before = np.inf
    for degree in (2, 5, 9):
        F = gaussian_features(X, degree, gamma)
        error = np.abs(F @ F.T - exact)
        assert np.all(error <= gaussian_features_error(X, X, degree, gamma) + 1e-14)
        assert error.max() < before
        before = error.max()


def test_features_in_one_dimension_are_those_of_the_notes():
    x, j = 0.7, np.arange(5)
    factorials = np.array([1, 1, 2, 6, 24])
    expected = np.exp(-(x**2) / 2) * x**j / np.sqrt(factorials)
    assert gaussian_features([[x]], 4)[0] == pytest.approx(expected)


def test_integral_of_densities_is_the_kernel():
    assert gaussian_density_product([0.3], [-0.9], gamma=0.85) == pytest.approx(0.2940516, abs=5e-8)
    x, y = [0.3, -1.0], [1.1, 0.4]
    assert gaussian_density_product(x, y, 0.7) == pytest.approx(RBF(gamma=0.7)([x], [y])[0, 0], rel=1e-12)
    grid = np.linspace(-8, 8, 4001)
    square = gaussian_density_feature([0.2], grid[:, None]) ** 2
    assert np.trapezoid(square, grid) == pytest.approx(1.0)


def test_errors():
    with pytest.raises(InvalidData, match="two dimensions"):
        gaussian_features([1.0], 2)
    with pytest.raises(InvalidParameter, match="gamma"):
        gaussian_features([[1.0]], 2, gamma=0.0)
    with pytest.raises(InvalidParameter, match="degree"):
        gaussian_features(np.ones((2, 50)), 9)
    with pytest.raises(InvalidParameter, match="degree"):
        gaussian_features([[1.0]], 0)
    with pytest.raises(InvalidData, match="columns"):
        gaussian_density_feature([0.0, 1.0], [[1.0]])
