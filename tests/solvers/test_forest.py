"""The fast trees of forests are those of the general grower, node by node, and draw the columns they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.solvers.trees import FlatTree, Rules, bin_columns, class_target, grow_binned
from surefit.solvers.trees.candidates import Candidates
from surefit.solvers.trees.forest import grow_pair


def both(X, y, counts, max_depth=2**31 - 1, min_samples_split=2):
    """The tree by the fast and by the general grower, all columns looked at."""
    bins = bin_columns(np.ascontiguousarray(X.T))
    by_row, d = np.ascontiguousarray(bins.codes.T), X.shape[1]
    fast = grow_pair(
        by_row, bins.edges, y, counts, max_depth=max_depth, min_samples_split=min_samples_split,
        columns=np.arange(d), max_features=d, seed=3,
    )  # fmt: skip
    rules = Rules(max_depth=max_depth, min_samples_split=min_samples_split)
    target = class_target(y, 2, "gini", counts.astype(float))
    return fast, grow_binned(bins, target, rules, rows=np.flatnonzero(counts))


def assert_same(fast, general):
    for name in FlatTree._fields:
        ours, theirs = getattr(fast, name), getattr(general, name)
        if name in ("impurity", "gain", "value", "threshold"):
            np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=name)
        elif name != "n_codes":
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


@pytest.mark.parametrize("rules", [{}, {"max_depth": 4}, {"min_samples_split": 30}])
@pytest.mark.parametrize("d", [3, 5, 8])
def test_trees_are_those_of_the_general_grower(d, rules):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((1500, d))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(1500) > 0).astype(np.int64)
    assert_same(*both(X, y, rng.integers(0, 4, 1500), **rules))


@settings(max_examples=30)
@given(st.integers(0, 100_000))
def test_ties_are_broken_alike(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (60, 4)).astype(float), rng.integers(0, 2, 60)
    counts = rng.integers(0, 3, 60)
    counts[0] += 1
    assert_same(*both(X, y, counts))


def test_thresholds_are_in_the_middle_of_the_gap():
    X, y, counts = np.arange(10.0)[:, None], np.repeat([0, 1], 5), np.zeros(10, dtype=np.int64)
    counts[[0, 1, 8, 9]] = 1  # drawn: the gap is from 1 to 8, with bin edges 1.5, 2.5, ..., 7.5
    for tree in both(X, y, counts):
        assert tree.threshold[0] == 4.5 and tree.n_leaves == 2
    edges = bin_columns(X.T).edges
    assert Candidates(edges, np.array([9]), np.full((1, 255), np.nan)).threshold(0, 1, 8) == 4.5  # of partitions


def test_only_the_named_columns_are_cut_and_constants_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    X[:, [0, 1, 2]] = 1.0  # constant: they must not use up the draws
    y = (X[:, 3] > 0).astype(np.int64)
    bins = bin_columns(np.ascontiguousarray(X.T))
    options = {"max_depth": 50, "min_samples_split": 2, "max_features": 1, "seed": 1}
    tree = grow_pair(
        np.ascontiguousarray(bins.codes.T),
        bins.edges,
        y,
        np.ones(400, dtype=np.int64),
        columns=[0, 1, 2, 4, 5],
        **options,
    )
    assert set(tree.feature[tree.feature >= 0]) == {4, 5}
    assert np.all((tree.values[tree.feature < 0] == 0) | (tree.values[tree.feature < 0] == 1))


def test_draws_depend_on_the_seed_alone():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 6)), rng.integers(0, 2, 300)
    bins = bin_columns(np.ascontiguousarray(X.T))
    options = {"max_depth": 50, "min_samples_split": 2, "max_features": 2, "columns": np.arange(6)}
    trees = [
        grow_pair(np.ascontiguousarray(bins.codes.T), bins.edges, y, np.ones(300, dtype=np.int64), seed=k, **options)
        for k in (1, 1, 2)
    ]
    np.testing.assert_array_equal(trees[0].feature, trees[1].feature)
    assert not np.array_equal(trees[0].feature, trees[2].feature)
