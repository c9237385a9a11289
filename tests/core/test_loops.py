"""Sorting and copying in compiled loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.loops import RUN, ascending, copy_into


@given(st.lists(st.integers(-5, 5), max_size=5 * RUN))
@settings(max_examples=200, deadline=None)
def test_ascending_is_stable(values):
    values = np.array(values, dtype=np.float64)
    np.testing.assert_array_equal(ascending(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("n", [0, 1, RUN, RUN + 1, 2 * RUN, 1000, 4096])
def test_ascending_of_any_length(n):
    values = np.random.default_rng(n).integers(0, max(1, n // 3), n) / 7.0
    values[: n // 10] = np.inf
    values[n // 10 : n // 5] = -np.inf
    np.testing.assert_array_equal(ascending(values), np.argsort(values, kind="stable"))


def test_copy_into_leaves_the_rest():
    goal = np.zeros(5, dtype=np.int64)
    copy_into(goal, np.array([3, 1]))
    assert goal.tolist() == [3, 1, 0, 0, 0]
