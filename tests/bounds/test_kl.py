"""Relative entropy of coins: identities, exact values, inverses, and the Chernoff bound against exact binomials."""

import math
from decimal import Decimal, getcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import binary_kl, hoeffding, kl_inverse, kl_inverse_lower, relative_entropy
from surefit.bounds.kl import minus_log1p
from surefit.core.errors import InvalidParameter

probabilities = st.floats(1e-9, 1 - 1e-9)


def exact_tail_above(n: int, p: float, k: int) -> float:
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def test_values_known_in_closed_form():
    assert binary_kl(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3), rel=1e-15)
    assert binary_kl(0.0, 0.3) == pytest.approx(-math.log(0.7), rel=1e-15)
    assert binary_kl(1.0, 0.3) == pytest.approx(-math.log(0.3), rel=1e-15)
    assert binary_kl(0.2, 0.0) == math.inf and binary_kl(0.2, 1.0) == math.inf
    assert binary_kl(0.0, 0.0) == 0.0 and binary_kl(1.0, 1.0) == 0.0


@pytest.mark.parametrize("t", [1e-12, -1e-9, 1e-5, -0.01, 0.29, -0.29, 0.31, -0.31, 5.0])
def test_no_cancellation(t):
    getcontext().prec = 60
    exact = Decimal(t) - (1 + Decimal(t)).ln()
    assert minus_log1p(t) == pytest.approx(float(exact), rel=2e-15)


def test_close_arguments_keep_their_digits():
    # kl(q, q + e) = e^2 / (2 q (1 - q)) to first order; the plain formula returns noise here.
    assert binary_kl(0.3, 0.3 + 1e-10) == pytest.approx(1e-20 / 0.42, rel=1e-5)


@given(q=probabilities, p=probabilities)
@settings(max_examples=100, deadline=None)
def test_symmetry_sign_and_pinsker(q, p):
    value = binary_kl(q, p)
    assert value >= 2 * (p - q) ** 2 * (1 - 1e-12)
    assert binary_kl(1 - q, 1 - p) == pytest.approx(value, rel=1e-5, abs=1e-15)


@given(q=st.floats(0, 1), c=st.floats(1e-12, 50))
@settings(max_examples=200, deadline=None)
def test_inverse_is_the_last_point_allowed(q, c):
    p = kl_inverse(q, c)
    assert q <= p <= 1 and (p == 1 or binary_kl(q, p) >= c * (1 - 1e-9))
    assert p * (1 - 4e-15) <= q or binary_kl(q, p * (1 - 4e-15)) <= c * (1 + 1e-9)
    lower = kl_inverse_lower(q, c)
    assert 0 <= lower <= q and (lower == 0 or binary_kl(q, lower) >= c * (1 - 1e-9))
    assert lower * (1 + 4e-15) >= q or lower < 1e-300 or binary_kl(q, lower * (1 + 4e-15)) <= c * (1 + 1e-9)
    assert kl_inverse_lower(1 - q, c) == pytest.approx(1 - p, abs=1e-7)


def test_inverse_at_the_ends():
    assert kl_inverse(0.0, 0.2) == pytest.approx(1 - math.exp(-0.2), rel=1e-14)
    assert kl_inverse(0.0, 1e-18) == pytest.approx(1e-18, rel=1e-12)
    assert kl_inverse(1.0, 0.2) == 1.0 and kl_inverse(0.3, math.inf) == 1.0
    assert kl_inverse(0.3, 0.0) == pytest.approx(0.3, rel=1e-15)
    assert kl_inverse(0.5, 700.0) == 1.0
    assert kl_inverse_lower(1.0, 0.2) == pytest.approx(math.exp(-0.2), rel=1e-14)


def test_inverse_for_tiny_means_keeps_relative_precision():
    q, c = 1e-9, math.log(20) / 1e9
    assert binary_kl(q, kl_inverse(q, c)) == pytest.approx(c, rel=1e-9)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("n", [10, 40])
def test_chernoff_dominates_the_exact_tail_and_is_below_hoeffding(n, p):
    for k in range(math.ceil(n * p) + 1, n + 1):
        radius = k / n - p
        bound = relative_entropy(p, n=n, radius=radius).delta
        assert exact_tail_above(n, p, k) <= bound * (1 + 1e-9)
        assert bound <= hoeffding(n=n, radius=radius, sides=1).delta * (1 + 1e-12)


def test_three_forms_agree():
    probability = relative_entropy(0.1, n=500, radius=0.05, sides=2).delta
    assert relative_entropy(0.1, n=500, delta=probability, sides=2).radius == pytest.approx(0.05, rel=1e-9)
    size = relative_entropy(0.1, radius=0.05, delta=probability * 1.000001, sides=2).n
    assert size == 500


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binary_kl(1.2, 0.5), "binary_kl: q must be a number from 0 to 1; got 1.2"),
        (lambda: kl_inverse(0.5, -1.0), "kl_inverse: c must be a number >= 0"),
        (lambda: kl_inverse(math.nan, 1.0), "kl_inverse: q must be"),
        (lambda: relative_entropy(0.5, n=10), "two given and one left out"),
        (lambda: relative_entropy(0.5, n=10, delta=0.1, sides=3), "sides must be 1 or 2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
