"""Compression: exact tails, the equation of the stable bound in rationals, and test sets as a special case."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import clopper_pearson, pick_to_learn, sample_compression, stable_compression
from surefit.core.errors import InvalidParameter


def stable_sum(size: int, n: int, delta: float, eps: float) -> Fraction:
    """The left side of the equation, in exact arithmetic."""
    eps, total = Fraction(eps), Fraction(0)
    for m in range(size, n):
        total += Fraction(math.comb(m, size), math.comb(n, size)) / (1 - eps) ** (n - m)
    return Fraction(delta) / n * total


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-12])
@pytest.mark.parametrize(("size", "n"), [(0, 1), (0, 20), (1, 20), (7, 20), (19, 20), (5, 60)])
def test_stable_limit_solves_its_equation(size, n, delta):
    eps = stable_compression(size, n, delta).value
    assert eps == 1.0 or stable_sum(size, n, delta, eps) >= 1
    assert stable_sum(size, n, delta, eps * (1 - 1e-12)) < 1


@pytest.mark.parametrize(("size", "n", "k"), [(3, 50, 2), (0, 50, 4), (10, 40, 0)])
def test_classical_limit_is_a_binomial_tail_at_its_share(size, n, k):
    share = Fraction(0.05) / (n * math.comb(n, size))
    value, m = sample_compression(size, k, n, 0.05).value, n - size

    def tail(p: Fraction) -> Fraction:
        return sum(math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(k + 1))

    assert tail(Fraction(value)) <= share < tail(Fraction(value * (1 - 1e-12)))


def test_shares_of_all_compression_sets_sum_to_delta():
    n = 12
    assert sum(math.comb(n, s) * Fraction(1, n * math.comb(n, s)) for s in range(n)) == 1


def test_extremes():
    assert sample_compression(600, 0, 1000, 1e-12).value < 1.0  # n choose s is far above the largest float
    assert sample_compression(5 * 10**8, 0, 10**9).value < 1.0 and sample_compression(10, 0, 10).vacuous
    assert stable_compression(10, 10).value == 1.0 and stable_compression(3, 4, 1e-300).vacuous
    assert stable_compression(0, 1).value == pytest.approx(0.95, rel=1e-8)
    big = stable_compression(10**6, 10**9, 1e-12).value
    assert 1e-3 < big < 1.02e-3
    assert stable_compression(0, 10**9, 0.05).value == pytest.approx(4.514e-9, rel=1e-3)


def test_more_rows_than_a_sum_has_terms():
    # The terms of 10^9 rows are never added up; the equation is one of binomial tails.
    for size in (0, 1, 40, 10**6, 10**9 - 1):
        few = stable_compression(size, 10**9, 1e-12)
        assert size / 10**9 < few.value <= 1.0
        assert clopper_pearson(size, 10**9, 1e-12) <= few.value * (1 + 1e-12)


@given(n=st.integers(2, 400), data=st.data(), delta=st.floats(1e-9, 0.4))
@settings(max_examples=40, deadline=None)
def test_monotone(n, data, delta):
    size = data.draw(st.integers(0, n - 1))
    value = stable_compression(size, n, delta).value
    assert size / n < value <= stable_compression(size + 1, n, delta).value
    assert value <= stable_compression(size, n, delta / 2).value
    assert clopper_pearson(size, n, delta) <= value * (1 + 1e-8)  # P2L with no picks is a test set, slightly worse


def test_pick_to_learn():
    assert pick_to_learn(0, 35, 1000).value == stable_compression(35, 1000).value == pick_to_learn(20, 15, 1000).value
    assert pick_to_learn(20, 15, 1000, budgets=4).value == pytest.approx(stable_compression(35, 1000, 0.05 / 4).value)
    assert pick_to_learn(0, 8, 200).value < 1.3 * clopper_pearson(8, 200)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_compression(11, 0, 10), "size must be an integer from 0 to n = 10"),
        (lambda: sample_compression(4, 7, 10), "errors must be an integer from 0 to n = 6"),
        (lambda: stable_compression(-1, 10), "size must be"),
        (lambda: stable_compression(1, 0), "n must be"),
        (lambda: pick_to_learn(6, 5, 10), "errors_left"),
        (lambda: pick_to_learn(1, 1, 10, budgets=0), "budgets"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
