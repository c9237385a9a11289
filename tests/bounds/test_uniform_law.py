"""Suprema over half-lines and intervals: scipy, brute force, and the two counter-examples of the notes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefit.bounds import dkw, hoeffding, interval_deviation, ks_distance
from surefit.core.errors import InvalidData


def uniform(x):
    return np.clip(x, 0, 1)


@given(sample=st.lists(st.floats(0, 1), min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_rays_are_kolmogorov_smirnov_and_intervals_are_kuiper(sample):
    x = np.array(sample)
    assert ks_distance(x, uniform) == pytest.approx(stats.kstest(x, "uniform").statistic, abs=1e-12)
    largest = 0.0
    for a in [0.0, *x]:
        for b in [*x, 1.0]:
            if a <= b:
                closed, opened = np.mean((x >= a) & (x <= b)), np.mean((x > a) & (x < b))
                largest = max(largest, closed - (b - a), (b - a) - opened)
    assert interval_deviation(x, uniform) == pytest.approx(largest, abs=1e-9)


def test_half_lines_converge():
    # the class of all sets does not: for A = the sample, Q_n(A) = 1 and Q(A) = 0, whatever n
    rng = np.random.default_rng(0)
    distances = [ks_distance(rng.random(n), uniform) for n in (10, 1000, 100_000)]
    assert distances[0] > distances[1] > distances[2] and distances[2] < 0.01


def test_dkw_is_hoeffding_for_all_half_lines():
    assert dkw(n=500, delta=0.05).radius == pytest.approx(hoeffding(n=500, delta=0.05).radius, rel=1e-14)
    rng = np.random.default_rng(1)
    radius = dkw(n=50, delta=0.1).radius
    bad = sum(ks_distance(rng.random(50), uniform) > radius for _ in range(1000))
    assert 30 <= bad <= 137  # the constant is sharp: neither lazy nor broken
    assert dkw(radius=radius, delta=0.1).n == 50 and dkw(n=50, radius=radius).delta == pytest.approx(0.1)


def test_refusal():
    with pytest.raises(InvalidData, match="non-empty"):
        ks_distance([], uniform)
