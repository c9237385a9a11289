"""Draws: counts, weights as repetitions, and any order of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefit.ensembles.bootstrap import Draws, lexicographic_order, n_draws


def table(seed, n=30):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 2, n)


@given(st.integers(0, 10_000))
def test_order_is_lexicographic(seed):
    X, y = table(seed)
    X[seed % 30, seed % 3] = np.nan
    order = lexicographic_order(X, y)
    keys = [(*np.where(np.isnan(row), 9, row), label) for row, label in zip(X[order], y[order], strict=True)]
    assert keys == sorted(keys)


@given(st.integers(0, 10_000))
def test_weights_repeat_rows_and_shuffles_change_nothing(seed):
    X, y = table(seed)
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 4, 30)
    s[0] += 1
    by_weight = Draws(X, y, s.astype(float)).counts(seed)
    assert by_weight.sum() == s.sum()
    repeated = Draws(np.repeat(X, s, axis=0), np.repeat(y, s), None).counts(seed)
    shuffle = rng.permutation(30)
    shuffled = Draws(X[shuffle], y[shuffle], s[shuffle].astype(float)).counts(seed)

    def of_distinct_rows(X, y, counts):
        keys, where = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
        found = np.bincount(where.ravel(), weights=counts)
        return {tuple(key): count for key, count in zip(keys, found, strict=True) if count}

    expected = of_distinct_rows(X, y, by_weight)
    assert of_distinct_rows(np.repeat(X, s, axis=0), np.repeat(y, s), repeated) == expected
    assert of_distinct_rows(X[shuffle], y[shuffle], shuffled) == expected


def test_a_row_is_left_out_with_the_right_probability():
    draws = Draws(np.arange(10.0)[:, None], np.zeros(10), None)
    missed = np.mean([draws.counts(seed)[3] == 0 for seed in range(4000)])
    assert missed == pytest.approx(0.9**10, abs=0.03)


def test_number_of_draws():
    assert n_draws(None, 10, None) == 10
    assert n_draws(np.array([2.0, 0.0, 3.0]), 3, None) == 5
    assert n_draws(np.array([0.2, 0.0, 0.3]), 3, None) == 2
    assert n_draws(None, 10, 0.5) == 5
    assert n_draws(None, 10, 7) == 7
