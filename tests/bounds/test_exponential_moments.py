"""Chernoff and Cramér: closed forms, optimality over the exponent, exactness for samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    binary_kl,
    chernoff,
    cramer,
    cramer_transform,
    hoeffding,
    log_mgf_bernoulli,
    log_mgf_gaussian,
    log_mgf_sample,
    relative_entropy,
    sub_gaussian,
)
from surefit.core.errors import InvalidData, InvalidParameter


@given(p=st.floats(0.01, 0.99), share=st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_transform_of_a_coin_is_relative_entropy(p, share):
    t = p + share * (1 - p)
    assert cramer_transform(log_mgf_bernoulli(p), t)[0] == pytest.approx(binary_kl(t, p), rel=1e-9, abs=1e-13)


def test_transform_at_and_beyond_the_ends():
    assert cramer_transform(log_mgf_bernoulli(0.3), 1.0)[0] == pytest.approx(-math.log(0.3), rel=1e-9)
    assert cramer_transform(log_mgf_bernoulli(0.3), 1.5)[0] == math.inf
    assert cramer_transform(log_mgf_bernoulli(0.3), 0.2) == (0.0, 0.0)  # below the mean: no exponent helps
    assert cramer_transform(log_mgf_bernoulli(0.0), 0.5)[0] == math.inf


@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("t", [1e-3, 1.0, 50.0])
def test_transform_of_a_gaussian(sigma, t):
    value, exponent = cramer_transform(log_mgf_gaussian(sigma), t)
    assert value == pytest.approx(t * t / (2 * sigma**2), rel=1e-9)
    assert exponent == pytest.approx(t / sigma**2, rel=1e-5)


def test_transform_with_a_finite_domain():
    # Exponential(1): psi = -ln(1 - lambda) on lambda < 1, transform t - 1 - ln t
    value, _ = cramer_transform(lambda lam: -math.log1p(-lam), 4.0, largest=1.0)
    assert value == pytest.approx(3 - math.log(4), rel=1e-9)


@given(sample=st.lists(st.floats(-50, 50), min_size=1, max_size=20), t=st.floats(-60, 60))
@settings(max_examples=80, deadline=None)
def test_chernoff_holds_for_any_sample_and_is_the_best_exponent(sample, t):
    bound = chernoff(sample, t)
    assert np.mean(np.array(sample) >= t) <= bound.delta * (1 + 1e-9)
    psi = log_mgf_sample(sample)
    for lam in (0.0, 0.1, 1.0, 3.0):
        assert bound.log_delta <= -(lam * t - psi(lam)) + 1e-7 * (1 + abs(lam * t))


def test_averages():
    bound = chernoff(log_mgf_bernoulli(0.5), 0.6, n=100)
    assert bound.log_delta == pytest.approx(-100 * binary_kl(0.6, 0.5), rel=1e-9)
    assert bound.delta <= hoeffding(n=100, radius=0.1, sides=1).delta
    coins, same = cramer(log_mgf_bernoulli(0.2), 0.2, n=50, delta=0.01), relative_entropy(0.2, n=50, delta=0.01)
    assert coins.radius == pytest.approx(same.radius, rel=1e-8)
    gaussian, closed = (
        cramer(log_mgf_gaussian(2.0), 0.0, n=50, delta=0.01),
        sub_gaussian(2.0, n=50, delta=0.01, sides=1),
    )
    assert gaussian.radius == pytest.approx(closed.radius, rel=1e-8)
    assert cramer(log_mgf_gaussian(2.0), 0.0, radius=gaussian.radius * 1.000001, delta=0.01).n == 50


def test_refusals():
    with pytest.raises(InvalidData, match="non-empty"):
        chernoff([], 1.0)
    with pytest.raises(InvalidParameter, match="p must be"):
        log_mgf_bernoulli(1.2)
    with pytest.raises(InvalidParameter, match="sigma must be"):
        log_mgf_gaussian(0.0)
    with pytest.raises(InvalidParameter, match="n must be"):
        chernoff([1.0], 1.0, n=0)
