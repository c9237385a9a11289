"""Derivatives by blocks of rows."""

import numpy as np
import pytest

from surefit.losses import Logistic, Squared
from surefit.solvers.boosting.losses import ROWS, gradients


@pytest.mark.parametrize("loss", [Logistic(), Squared()])
def test_derivatives_do_not_depend_on_threads(loss):
    n = 2 * ROWS + 300
    rng = np.random.default_rng(0)
    y, z, s = rng.integers(2, size=n).astype(float), rng.standard_normal((1, n)), rng.random(n)
    found = []
    for n_jobs in (1, 3):
        g, h = np.empty((1, n)), np.empty((1, n))
        found.append((gradients(loss, y, z, s, g, h, n_jobs), g, h))
    (one, g, h), (three, g3, h3) = found
    assert one == three and np.array_equal(g, g3) and np.array_equal(h, h3)
    f = z[0]
    p = 1 / (1 + np.exp(-f))
    value, slope = (np.logaddexp(0, f) - y * f, p - y) if isinstance(loss, Logistic) else ((y - f) ** 2 / 2, f - y)
    assert one[0] == pytest.approx(s @ value, rel=1e-12)
    np.testing.assert_allclose(g[0], s * slope, rtol=1e-9, atol=1e-14)
    assert one[1] >= np.abs(g).max() and one[2] >= h.max()
