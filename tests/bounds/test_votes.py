"""Votes, folds and transfer: inequalities checked on every finite ensemble, formulas, and the fold-size trap."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    clopper_pearson,
    clopper_pearson_interval,
    holdout_size,
    k_fold,
    kl_inverse,
    out_of_bag_bounds,
    progressive_errors,
    risk_split,
    transfer,
    vote_c_bound,
    vote_first_order,
    vote_tandem,
)
from surefit.core.errors import InvalidData, InvalidParameter

tables = st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=7)


@given(table=tables)
@settings(max_examples=100, deadline=None)
def test_the_three_inequalities_hold_for_every_ensemble(table):
    E = np.array(table, dtype=float)  # member errs on row
    share = E.mean(axis=0)
    vote = np.mean(share >= 0.5)  # ties are errors
    gibbs, tandem = E.mean(), np.mean(share**2)
    disagreement = np.mean(2 * share * (1 - share))
    assert vote <= 2 * gibbs + 1e-12 and vote <= 4 * tandem + 1e-12
    assert disagreement <= 2 * gibbs * (1 - gibbs) + 1e-12
    assert tandem == pytest.approx(gibbs - disagreement / 2)
    if gibbs < 0.5 and disagreement < 0.5:
        assert vote <= 1 - (1 - 2 * gibbs) ** 2 / (1 - 2 * disagreement) + 1e-12


def test_formulas():
    assert vote_first_order(0.1, 500).value == pytest.approx(
        2 * kl_inverse(0.1, math.log(2 * math.sqrt(500) / 0.05) / 500), rel=1e-8
    )
    c = (2 * 0.3 + math.log(2 * math.sqrt(200) / 0.05)) / 200
    assert vote_tandem(0.02, 200, divergence=0.3).value == pytest.approx(4 * kl_inverse(0.02, c), rel=1e-8)
    assert vote_first_order(0.4, 50).vacuous and vote_tandem(0.2, 50).vacuous
    assert vote_c_bound(0.45, 100, 0.2, 50).vacuous
    # with plenty of rows the C-bound reaches its population value, here below both others
    rich = 10**9
    population = 1 - (1 - 2 * 0.3) ** 2 / (1 - 2 * 0.41)
    assert vote_c_bound(0.3, rich, 0.41, rich).value == pytest.approx(population, abs=2e-3)
    assert population < min(2 * 0.3, 4 * (0.3 - 0.41 / 2))


def test_out_of_bag_counts():
    rng = np.random.default_rng(0)
    E, B = rng.random((7, 300)) < 0.2, rng.random((7, 300)) < 0.4
    bounds = out_of_bag_bounds(E, B, 0.1)
    rates = [E[i, B[i]].mean() for i in range(7)]
    pairs = [(E[i] & E[j])[B[i] & B[j]].mean() for i, j in itertools.product(range(7), repeat=2)]
    assert bounds["first_order"].inputs["empirical"] == pytest.approx(np.mean(rates))
    assert bounds["first_order"].inputs["n"] == B.sum(axis=1).min()
    assert bounds["tandem"].inputs["empirical"] == pytest.approx(np.mean(pairs))
    assert bounds["tandem"].inputs["n"] == min(np.sum(B[i] & B[j]) for i in range(7) for j in range(i))
    assert bounds["first_order"].value == vote_first_order(np.mean(rates), int(B.sum(axis=1).min()), 0.1).value


def test_folds_count_the_rows_of_one_fold():
    two = k_fold([30, 34], [500, 500])
    assert two.value == pytest.approx(progressive_errors(32, 500).value, rel=1e-9)
    assert two.value > progressive_errors(64, 1000).value
    ten = k_fold([10] * 10, [100] * 10)
    assert ten.inputs["n"] == 100 and ten.value > k_fold([50, 50], [500, 500]).value
    assert k_fold([1, 2], [10, 30]).inputs["n"] == 10 and k_fold([1, 2], [10, 30]).inputs["empirical"] == pytest.approx(
        1 / 12
    )


def test_exponential_moment_of_two_folds():
    # E exp(m [mean of Z_j]) <= mean of E exp(m Z_j) <= 1, for any dependence between the folds; here the worst one:
    # both folds are the same rows.
    m, p, rate = 5, 0.3, 0.8
    shrink = 1 - math.exp(-rate)
    total = 0.0
    for k in range(m + 1):
        z = -rate * k / m - math.log(1 - p * shrink)
        total += math.comb(m, k) * p**k * (1 - p) ** (m - k) * math.exp(m * (z + z) / 2)
    assert total == pytest.approx(1.0, rel=1e-12)


def test_transfer():
    bound = transfer(12, 400, 30, 5000, 0.05)
    assert bound.value == pytest.approx(clopper_pearson(12, 400, 0.025) + clopper_pearson(30, 5000, 0.025))
    assert transfer(200, 400, 4000, 5000).vacuous
    assert transfer(12, 400, 0, 10**9).value == pytest.approx(clopper_pearson(12, 400, 0.025), abs=1e-8)


def test_risk_split():
    split = risk_split(4, 400, 30, 200)
    low, high = clopper_pearson_interval(30, 200)
    assert split.risk == (low, high) and split.gap == pytest.approx((low - 0.01, high - 0.01)) and split.overfits
    assert (split.train, split.test) == (0.01, 0.15)
    assert not risk_split(50, 400, 30, 200).overfits


def test_holdout_size():
    assert [holdout_size(n) for n in (2, 50, 400, 1000, 10_000, 10**7)] == [1, 25, 200, 200, 2000, 5000]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vote_first_order(1.2, 10), InvalidParameter, "mean loss"),
        (lambda: vote_tandem(0.2, 0), InvalidParameter, "n must be"),
        (lambda: vote_c_bound(0.2, 10, 0.1, 10, divergence=-1.0), InvalidParameter, "divergence"),
        (lambda: out_of_bag_bounds(np.ones((2, 3)), np.ones((2, 2))), InvalidData, "same shape"),
        (lambda: out_of_bag_bounds(np.ones((2, 2)), np.eye(2)), InvalidData, "neither saw"),
        (lambda: k_fold([1], [5]), InvalidData, ">= 2 folds"),
        (lambda: k_fold([1, 9], [5, 5]), InvalidParameter, "errors must be"),
        (lambda: transfer(1, 10, 3, 2), InvalidParameter, "errors must be"),
        (lambda: holdout_size(1), InvalidParameter, "n must be"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
