"""Sums of Gaussian kernel values agree with the Gram matrix and with the formula."""

import numpy as np
import pytest

from surefit.kernels import RBF
from surefit.kernels.vectors import TILE


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), RBF(length_scale=1.7), RBF(length_scale=[0.5, 2.0, 1.0]), RBF()])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_sums_in_tiles_are_the_product_with_the_gram_matrix(kernel, shift):
    generator = np.random.default_rng(5)
    B, Z = generator.normal(size=(700, 3)) + shift, generator.normal(size=(500, 3)) + shift
    Z[:5] = B[:5]
    coefficients = generator.normal(size=(700, 2))
    exact = np.exp(-0.5 * (((Z[:, None] - B) / kernel.lengths) ** 2).sum(axis=2))
    found = kernel.combined(Z, np.arange(700), B, coefficients)
    assert len(Z) * len(B) >= TILE
    np.testing.assert_allclose(found, exact @ coefficients, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found, kernel(Z, B) @ coefficients, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1e100, 1e155, 1e200])
def test_distant_rows_have_the_sums_of_the_gram_matrix(size):
    generator = np.random.default_rng(6)
    B, Z = generator.normal(size=(300, 2)), generator.normal(size=(300, 2))
    Z[::3] *= size
    coefficients = generator.normal(size=(300, 1))
    with np.errstate(all="ignore"):
        found = RBF(gamma=1.0).combined(Z, np.arange(300), B, coefficients)
        np.testing.assert_allclose(found, RBF(gamma=1.0)(Z, B) @ coefficients, rtol=1e-12, atol=1e-12)
    assert np.all(found[::3] == 0.0)
