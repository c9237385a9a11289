"""Clopper-Pearson limits: exact rational tails, scipy where it is right, extremes where it is not."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from surefit.bounds import (
    binomial_tail_inverse,
    clopper_pearson,
    clopper_pearson_interval,
    clopper_pearson_lower,
    clopper_pearson_size,
    holdout,
    holdout_loss,
    kl_inverse,
    log_binomial_cdf,
    log_binomial_sf,
)
from surefit.checks.tail_sums import binomial_tail
from surefit.core.errors import InvalidData, InvalidParameter


def exact_cdf(k: int, n: int, p: float) -> Fraction:
    p = Fraction(p)
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1))


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("p", [1e-9, 0.03, 0.5, 0.8, 1 - 2**-30])
def test_log_tails_are_exact(n, p):
    for k in range(n):
        below = exact_cdf(k, n, p)
        assert log_binomial_cdf(k, n, p) == pytest.approx(_log(below), rel=1e-12, abs=1e-15)
        assert log_binomial_sf(k, n, p) == pytest.approx(_log(1 - below), rel=1e-12, abs=1e-15)


def _log(value: Fraction) -> float:
    """Logarithm of a rational that may be below the smallest float."""
    if value > Fraction(1, 2):
        return math.log1p(-float(1 - value))
    shift = value.denominator.bit_length() - value.numerator.bit_length()
    return math.log(float(value * 2**shift)) - shift * math.log(2)


def test_log_tail_where_scipy_underflows():
    # certificates say -9162 for a tail that scipy calls -inf; compare with the exact integer sum.
    n, k = 20_000, 1_000
    term = total = math.comb(n, k)
    for j in range(k, k - 400, -1):
        term = term * j // (n - j + 1)
        total += term
    exact = math.log(total >> 4000) + (4000 - n) * math.log(2)
    assert log_binomial_cdf(k, n, 0.5) == pytest.approx(exact, rel=1e-13)
    assert stats.binom.cdf(k, n, 0.5) == 0.0


@pytest.mark.parametrize("n", [1, 5, 80, 1000])
@pytest.mark.parametrize("delta", [0.9, 0.5, 0.05, 1e-12])
def test_limits_agree_with_the_beta_quantile(n, delta):
    for k in sorted({0, 1, n // 2, n - 1}):
        if k < n:
            assert clopper_pearson(k, n, delta) == pytest.approx(special.betainccinv(k + 1, n - k, delta), rel=2e-9)
        if k > 0:
            lower = special.betaincinv(k, n - k + 1, delta)
            assert clopper_pearson_lower(k, n, delta) == pytest.approx(lower, rel=2e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 9), (3, 9), (8, 9), (40, 97)])
def test_tail_at_the_limit_is_at_most_delta_in_exact_arithmetic(k, n):
    for delta in (0.3, 0.05, 1e-12, 1e-300):
        limit = clopper_pearson(k, n, delta)
        assert limit == 1.0 or exact_cdf(k, n, limit) <= Fraction(delta)
        assert exact_cdf(k, n, limit * (1 - 3e-9)) > Fraction(delta)  # and nothing is wasted


def test_extremes():
    assert clopper_pearson(0, 1, 0.05) == pytest.approx(0.95, rel=1e-8)
    assert clopper_pearson(1, 1, 0.05) == 1.0 and clopper_pearson(10**9, 10**9, 0.05) == 1.0
    assert clopper_pearson(0, 10**9, 1e-300) == pytest.approx(-math.expm1(math.log(1e-300) / 1e9), rel=1e-8)
    big = clopper_pearson(5 * 10**8, 10**9, 1e-12)
    assert log_binomial_cdf(5 * 10**8, 10**9, big) == pytest.approx(math.log(1e-12), abs=1e-3)
    tiny = clopper_pearson(7, 10**9, 1e-300)
    assert log_binomial_cdf(7, 10**9, tiny) == pytest.approx(math.log(1e-300), abs=1e-5)
    assert clopper_pearson_lower(0, 5) == 0.0 and clopper_pearson_lower(5, 5) == pytest.approx(0.05**0.2, rel=1e-8)
    assert binomial_tail_inverse(400, 1000, -1e6) == 1.0


@given(n=st.integers(1, 400), data=st.data(), delta=st.floats(1e-12, 0.5))
@settings(max_examples=60, deadline=None)
def test_monotone_and_below_chernoff(n, data, delta):
    k = data.draw(st.integers(0, n - 1))
    limit = clopper_pearson(k, n, delta)
    assert k / n < limit <= kl_inverse(k / n, -math.log(delta) / n) * (1 + 2e-9)
    assert limit <= clopper_pearson(k + 1, n, delta)
    assert limit >= clopper_pearson(k, n + 1, delta)
    assert limit <= clopper_pearson(k, n, delta / 2)
    assert clopper_pearson_lower(k, n, delta) <= k / n


def test_interval_is_two_half_limits():
    low, high = clopper_pearson_interval(12, 400, 0.05)
    reference = stats.binomtest(12, 400).proportion_ci(0.95, method="exact")
    assert (low, high) == (pytest.approx(reference.low, rel=2e-9), pytest.approx(reference.high, rel=2e-9))


@pytest.mark.parametrize("errors", [0, 1, 8])
@pytest.mark.parametrize("limit", [0.3, 0.01])
def test_size_is_the_least_that_proves_the_limit(errors, limit):
    n = clopper_pearson_size(limit, 0.05, errors)
    assert stats.binom.cdf(errors, n, limit) <= 0.05 < stats.binom.cdf(errors, n - 1, limit)


def test_eight_errors_give_a_bound_within_two():
    # certificates 4: CP(8, m) / (8 / m) is about 1.8
    assert clopper_pearson(8, 2000) / (8 / 2000) == pytest.approx(1.8, abs=0.01)


@pytest.mark.parametrize(
    ("n", "values"), [(200, (0.095, 0.117, 0.135)), (600, (0.079, 0.090, 0.099)), (2000, (0.070, 0.075, 0.079))]
)
def test_price_of_comparing_models(n, values):
    # certificates 1: 6 % error, 1, 10 and 100 models compared on one hold-out
    found = [clopper_pearson(round(0.06 * n), n, 0.05 / J) for J in (1, 10, 100)]
    assert found == pytest.approx(values, abs=6e-4)


def test_holdout_states_itself():
    bound = holdout(12, 400, 0.05)
    assert bound.value == clopper_pearson(12, 400, 0.05) and not bound.vacuous and bound.confidence == 0.95
    assert bound.compared_with(0.048).vacuous and "vacuous" in bound.compared_with(0.048).statement
    assert holdout(400, 400).vacuous and holdout(400, 400).value == 1.0
    assert bound.inputs["errors"] == 12 and "risk of the model" in bound.statement
    assert "1 - 1e-12" in holdout(1, 10, 1e-12).statement


def test_holdout_loss_equals_the_chernoff_limit_and_handles_the_ends():
    losses = np.array([0, 1, 0, 0, 0.5])
    assert holdout_loss(losses, 0.1).value == pytest.approx(kl_inverse(0.3, math.log(10) / 5), rel=1e-8)
    assert holdout_loss(np.ones(3)).vacuous
    assert holdout_loss(np.zeros(10), 0.05).value == pytest.approx(1 - 0.05**0.1, rel=1e-8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: clopper_pearson(3, 2), InvalidParameter, "errors must be an integer from 0 to n = 2; got 3"),
        (lambda: clopper_pearson(0, 0), InvalidParameter, "n must be an integer >= 1"),
        (lambda: clopper_pearson(0, 5, 0.0), InvalidParameter, "delta must be a number > 0 and < 1; got 0.0"),
        (lambda: clopper_pearson_size(1.0), InvalidParameter, "limit"),
        (lambda: log_binomial_cdf(1, 2, 1.5), InvalidParameter, "p must be"),
        (lambda: holdout_loss([0.5, 2.0]), InvalidData, r"entry 1 is .*2\.0.*range that was declared"),
        (lambda: holdout_loss([]), InvalidData, "non-empty"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def log_tail_to_fifty_digits(k, n, p):
    """``ln P(Bin(n, p) <= k)``, summed downward until the terms vanish."""
    with mpmath.workdps(50):
        p = mpmath.mpf(p)
        term = mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k)
        total = term
        for j in range(k, 0, -1):
            term *= j * (1 - p) / ((n - j + 1) * p)
            total += term
            if term < total * mpmath.mpf(10) ** -45:
                break
        return mpmath.log(total)


@pytest.mark.parametrize(
    ("k", "n", "delta"),
    [(0, 7, 0.05), (1, 40, 0.3), (3, 1000, 1e-12), (17, 90, 0.01), (250, 255, 0.05), (30_000, 10**6, 0.05),
     (5_000, 10_000, 0.45), (2_500, 10**8, 1e-9)],
)  # fmt: skip
def test_limits_are_right_to_twelve_digits_and_on_the_safe_side(k, n, delta):
    upper, log_delta = clopper_pearson(k, n, delta), mpmath.log(mpmath.mpf(delta))
    assert log_tail_to_fifty_digits(k, n, upper) <= log_delta
    assert log_tail_to_fifty_digits(k, n, upper * (1 - 1e-12)) > log_delta
    assert binomial_tail(k, n, upper, Fraction(delta)).ok  # and the checker confirms it
    assert not binomial_tail(k, n, upper * (1 - 1e-12), Fraction(delta)).ok
    lower = clopper_pearson_lower(n - k, n, delta)
    assert lower == pytest.approx(1 - upper, abs=2e-12)  # the mirror image
