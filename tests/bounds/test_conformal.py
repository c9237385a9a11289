"""Conformal quantiles: exact coverage over all orders, the beta law of conditional coverage, jackknife+."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefit.bounds import (
    conformal_p_value,
    conformal_quantile,
    conformal_quantiles_by_class,
    conformal_rank,
    conformal_size,
    jackknife_plus,
)
from surefit.core.errors import InvalidData, InvalidParameter


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.34, 0.5])
@pytest.mark.parametrize("m", [1, 3, 4, 9])
def test_marginal_coverage_is_exact_over_all_orders(m, alpha):
    # exchangeable distinct scores: the new one is equally likely to have any rank among the m + 1
    covered = 0
    for position in range(m + 1):
        scores = [float(v) for v in range(m + 1) if v != position]
        covered += position <= conformal_quantile(scores, alpha).value
    stated = conformal_quantile([float(v) for v in range(m)], alpha).marginal_coverage
    assert covered / (m + 1) == pytest.approx(stated, abs=1e-12)
    assert 1 - alpha - 1e-12 <= stated <= min(1.0, 1 - alpha + 1 / (m + 1)) + 1e-12


def test_ranks_are_not_lost_to_rounding():
    assert conformal_rank(9, 0.1) == 9 and conformal_rank(99, 0.1) == 90 and conformal_rank(999, 0.1) == 900
    assert conformal_rank(19, 0.05) == 19 and conformal_rank(10, 0.05) == 11
    assert conformal_rank(10**9, 0.1) == math.ceil((10**9 + 1) * 9 / 10)


@given(m=st.integers(1, 300), alpha=st.floats(0.02, 0.9), delta=st.floats(1e-9, 0.5))
@settings(max_examples=60, deadline=None)
def test_conditional_coverage_is_a_beta_quantile(m, alpha, delta):
    found = conformal_quantile(np.arange(float(m)), alpha)
    if found.rank > m:
        assert found.value == math.inf and found.conditional_coverage(delta) == 1.0
        return
    expected = stats.beta.ppf(delta, found.rank, m + 1 - found.rank)
    assert found.conditional_coverage(delta) == pytest.approx(expected, rel=1e-7, abs=1e-12)
    bound = found.miscoverage(delta)
    assert bound.value == pytest.approx(1 - expected, abs=1e-7) and bound.delta == delta


@pytest.mark.parametrize("m", [30, 60, 200, 1000])
def test_rank_for_conditional_coverage_is_the_least(m):
    rank = conformal_rank(m, 0.1, delta=0.05)
    if rank > m:
        assert stats.beta.ppf(0.05, m, 1) < 0.9
    else:
        assert stats.beta.ppf(0.05, rank, m + 1 - rank) >= 0.9 - 1e-8
        assert stats.beta.ppf(0.05, rank - 1, m + 2 - rank) < 0.9


def test_size_suffices_from_there_on():
    size = conformal_size(0.1, 0.05, 0.03)
    for m in range(size, size + 40):
        rank = conformal_rank(m, 0.1)
        assert stats.beta.ppf(0.05, rank, m + 1 - rank) >= 0.87
    # exactly the sizes with an integer rank (m + 1)(1 - alpha) are the hard ones
    hard = [m for m in range(9, size) if (m + 1) % 10 == 0]
    assert stats.beta.ppf(0.05, (hard[-1] + 1) * 9 // 10, (hard[-1] + 1) // 10) < 0.87


def test_p_values_are_super_uniform():
    values = list(range(5))
    ps = sorted(conformal_p_value([v for v in values if v != x], x) for x in values)
    assert ps == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert conformal_p_value([1.0, 1.0], 1.0) == 1.0  # ties count against
    scores = np.random.default_rng(0).normal(size=30)
    for x in np.linspace(-3, 3, 50):
        assert (conformal_p_value(scores, x) > 0.1) == (x <= conformal_quantile(scores, 0.1).value)


def test_per_class():
    quantiles = conformal_quantiles_by_class([3.0, 1.0, 2.0, 9.0], ["a", "a", "a", "b"], alpha=0.3)
    assert quantiles["a"].value == 3.0 and quantiles["b"].value == math.inf and quantiles["b"].m == 1


def test_jackknife_plus_covers_on_a_small_population():
    # mean predictor, all orders of a fixed population: coverage is at least 1 - 2 alpha, exactly computed
    population = np.array([0.0, 1.0, 1.5, 4.0, 10.0, 11.0, 30.0])
    n, alpha, covered, total = 6, 0.2, 0, 0
    for new in range(7):
        x = np.delete(population, new)
        loo = (x.sum() - x) / (n - 1)
        low, high = jackknife_plus(loo, np.abs(x - loo), alpha)
        covered, total = covered + (low <= population[new] <= high), total + 1
    assert covered / total >= 1 - 2 * alpha
    assert jackknife_plus([0.0], [1.0], 0.1) == (-math.inf, math.inf)


@given(values=st.lists(st.floats(-5, 5), min_size=4, max_size=7, unique=True), alpha=st.sampled_from([0.2, 0.3, 0.4]))
@settings(max_examples=40, deadline=None)
def test_jackknife_plus_guarantee_on_any_population(values, alpha):
    population = np.array(values)
    covered = 0
    for new in range(len(population)):
        x = np.delete(population, new)
        loo = np.array([np.median(np.delete(x, i)) for i in range(len(x))])
        low, high = jackknife_plus(loo, np.abs(x - loo), alpha)
        covered += low - 1e-9 <= population[new] <= high + 1e-9
    assert covered / len(population) >= 1 - 2 * alpha - 1e-12


def test_order_does_not_matter():
    for scores in itertools.permutations([1.0, 5.0, 2.0]):
        assert conformal_quantile(scores, 0.5).value == 2.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: conformal_quantile([], 0.1), InvalidData, "non-empty"),
        (lambda: conformal_quantile([math.nan], 0.1), InvalidData, "NaN"),
        (lambda: conformal_quantile([1.0], 0.0), InvalidParameter, "alpha must be"),
        (lambda: conformal_rank(0, 0.1), InvalidParameter, "n must be"),
        (lambda: conformal_size(0.1, 0.05, 0.95), InvalidParameter, "slack"),
        (lambda: conformal_quantiles_by_class([1.0], ["a", "b"]), InvalidData, "labels"),
        (lambda: jackknife_plus([1.0], [1.0, 2.0]), InvalidData, "same length"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
