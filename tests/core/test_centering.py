"""Centering: most data need no median, and the result does not depend on the shortcut."""

import numpy as np
import pytest

from surefit.core import centering
from surefit.core.centering import center


def _by_medians(X, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(centering, "NEAR", -1.0)  # no column counts as near
        return center(X)


@pytest.mark.parametrize("level", [0.0, 1.0, 13.0, 20.0, 25.0, 31.0, 100.0, 1e6, 1e300])
@pytest.mark.parametrize("skewed", [False, True])
def test_the_shortcut_does_not_change_which_columns_are_far(level, skewed, monkeypatch):
    rng = np.random.default_rng(int(level) % 997)
    for n in (1, 2, 3, 20, 150):
        X = rng.exponential(size=(n, 4)) ** 3 if skewed else rng.normal(size=(n, 4))
        X += level * rng.integers(-1, 2, size=4)
        X[:, 0] = level  # constant
        wanted, found = _by_medians(X, monkeypatch), center(X)
        assert (found is None) == (wanted is None)
        assert found is None or np.array_equal(found, wanted)


def test_zero_columns_and_values_that_overflow(monkeypatch):
    assert center(np.zeros((5, 2))) is None
    for X in (np.full((5, 2), 1.7e308), np.array([[1e308, 1.0], [1.1e308, 2.0], [1.2e308, 3.0]])):
        wanted, found = _by_medians(X, monkeypatch), center(X)
        assert (found is None) == (wanted is None)
        assert found is None or np.array_equal(found, wanted)
