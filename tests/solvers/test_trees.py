"""The grower against brute force: every split is the best of all cuts, by definition, for every criterion."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import surefit
from surefit.solvers import trees
from surefit.solvers.trees import Rules
from surefit.solvers.trees.descend import pack, packed_leaves, worth_packing
from surefit.solvers.trees.flat import LEAF, SUBSET, THRESHOLD
from surefit.solvers.trees.segments import NEW, ROW


def impurity(y, w, criterion):
    """Total impurity by definition."""
    if criterion in ("squared_error", "absolute_error", "poisson"):
        if criterion == "absolute_error":
            return min(float(w @ abs(y - c)) for c in y)
        mean = float(w @ y / w.sum())
        if criterion == "squared_error":
            return float(w @ (y - mean) ** 2)
        return float(sum(wi * yi * math.log(yi / mean) for wi, yi in zip(w, y, strict=True) if yi > 0))
    p = np.bincount(y, weights=w) / w.sum()
    p = p[p > 0]
    return (
        float(w.sum())
        * {
            "gini": 1 - float(p @ p),
            "entropy": -float(p @ np.log2(p)),
            "misclassification": 1 - float(p.max()),
        }[criterion]
    )


def all_cuts(x):
    """Masks of all ways to send rows left by a threshold, missing values on either side."""
    present = np.unique(x[~np.isnan(x)])
    missing = np.isnan(x)
    for low in present:
        with np.errstate(invalid="ignore"):
            left = x <= low
        for mask in (left, left | missing) if missing.any() else (left,):
            if 0 < mask.sum() < len(x):
                yield mask


def best_decrease(X, y, w, criterion):
    whole = impurity(y, w, criterion)
    cuts = (mask for column in X.T for mask in all_cuts(column))
    allowed = (m for m in cuts if criterion != "poisson" or (y[m].sum() > 0 and y[~m].sum() > 0))
    inside = (impurity(y[m], w[m], criterion) + impurity(y[~m], w[~m], criterion) for m in allowed)
    return whole - min(inside, default=math.inf)


def check_splits(tree, X, y, w, criterion):
    """Every inner node's gain is the best there is, and what its children say."""
    for t in np.flatnonzero(tree.kind != LEAF):
        cut = trees.collapse(tree, np.arange(len(tree.kind)) == t)  # nodes up to t keep their numbers
        rows = trees.apply(cut, X) == t
        assert rows.sum() == tree.n_rows[t]
        best = best_decrease(X[rows], y[rows], w[rows], criterion)
        assert tree.gain[t] * tree.weight[t] == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert tree.impurity[t] * tree.weight[t] == pytest.approx(impurity(y[rows], w[rows], criterion), abs=1e-9)
        inside = sum(tree.impurity[c] * tree.weight[c] for c in tree.children(t))
        assert tree.gain[t] * tree.weight[t] == pytest.approx(tree.impurity[t] * tree.weight[t] - inside, abs=1e-9)


def sample(seed, n=40, missing=0.0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[rng.random(X.shape) < missing] = np.nan
    w = rng.integers(1, 4, n).astype(float)
    return X, w, rng


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_splits_of_classes_are_best(criterion, classes, missing):
    X, w, rng = sample(0, missing=missing)
    y = rng.integers(0, classes, len(X))
    values = np.ascontiguousarray(X.T)
    for weights in (None, w):
        target = trees.class_target(y, classes, criterion, weights)
        used = np.ones(len(X)) if weights is None else w
        check_splits(trees.grow_exact(values, target, Rules()), X, y, used, criterion)
        check_splits(trees.grow_binned(trees.bin_columns(values), target, Rules()), X, y, used, criterion)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_splits_of_real_targets_are_best(criterion, missing):
    X, w, rng = sample(1, missing=missing)
    y = rng.poisson(2.0, len(X)).astype(float)
    values = np.ascontiguousarray(X.T)
    for weights in (None, w):
        target = trees.real_target(y, criterion, weights)
        used = np.ones(len(X)) if weights is None else w
        check_splits(trees.grow_exact(values, target, Rules(max_depth=4)), X, y, used, criterion)
        check_splits(trees.grow_binned(trees.bin_columns(values), target, Rules(max_depth=4)), X, y, used, criterion)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2.0**-52, -1.0, 1e300, 5e-324, math.nan, 2.5]), min_size=1))
def test_presort_orders_values_and_marks_changes(values):
    column = np.array(values)
    segment = trees.presort(column[None])[0]
    rows = segment & ROW
    assert np.array_equal(rows, np.argsort(column + 0.0, kind="stable"))
    ordered = column[rows]
    changes = (ordered[1:] > ordered[:-1]) | (np.isnan(ordered[1:]) & ~np.isnan(ordered[:-1]))
    assert np.array_equal(segment[1:] >= NEW, changes)


def test_presort_of_many_values_with_equal_leading_bits():
    rng = np.random.default_rng(0)
    column = np.concatenate(
        [s * (1.0 + rng.permutation(500) // 2 * 2.0**-50) for s in (1.0, -1.0)]
    )  # pairs of equal values
    column[::50] = np.nan
    rows = np.flatnonzero(rng.random(1000) < 0.9)
    segment = trees.presort(np.array([column, -column]), rows)
    for each, own in zip(segment, (column, -column), strict=True):
        ordered = own[each & ROW]
        assert np.array_equal(each & ROW, rows[np.argsort(own[rows], kind="stable")])
        assert np.array_equal(each[1:] >= NEW, (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[:-1]))


@pytest.mark.parametrize("seed", range(5))
def test_best_subset_of_categories_is_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 60), rng.integers(0, 2, 60)
    real, ones = rng.normal(size=60), np.ones(60)
    subsets = [np.isin(x, s) for k in range(1, 6) for s in itertools.combinations(range(6), k)]
    cases = [(trees.class_target(y, 2, c), y, c) for c in ("gini", "entropy", "misclassification")]
    for target, values, criterion in [*cases, (trees.real_target(real), real, "squared_error")]:
        tree = trees.grow_exact(x[None].astype(float), target, Rules(max_depth=1), categories=[6])
        inside = (
            impurity(values[m], ones[m], criterion) + impurity(values[~m], ones[~m], criterion)
            for m in subsets
            if 0 < m.sum() < 60
        )
        assert tree.kind[0] == SUBSET
        assert tree.gain[0] * 60 == pytest.approx(impurity(values, ones, criterion) - min(inside))
        left, right = tree.category_sets(0)
        assert set(left) | set(right) == set(range(6)) and not set(left) & set(right)
        assert np.isin(x, left).sum() == tree.n_rows[1]


def test_multiway_gain_and_unseen_category():
    x = np.array([0.0, 0, 1, 1, 3, 3, np.nan, np.nan])
    y = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    tree = trees.grow_exact(x[None], trees.class_target(y, 2, "entropy"), Rules(multiway=True), categories=[4])
    assert len(tree.children(0)) == 4 and tree.n_leaves == 4
    assert tree.gain[0] == pytest.approx(tree.impurity[0] - 2 / 8)
    rows = np.array([[0.0], [1], [2], [3], [np.nan], [7]])
    kept = trees.apply(tree, rows)
    assert kept.tolist()[2] == kept.tolist()[5] == 0  # unseen categories stay at the root
    assert tree.values[kept, 1] == pytest.approx([0, 1, 5 / 8, 0.5, 1, 5 / 8])


def test_weights_are_repetitions():
    X, w, rng = sample(2)
    values, counts = np.ascontiguousarray(X.T), w.astype(int)
    again = np.repeat(values, counts, axis=1)
    y = rng.normal(size=len(X))
    for criterion in ("squared_error", "absolute_error"):
        weighted = trees.grow_exact(values, trees.real_target(y, criterion, w), Rules())
        repeated = trees.grow_exact(again, trees.real_target(np.repeat(y, counts), criterion), Rules())
        assert np.array_equal(weighted.feature, repeated.feature)
        assert np.array_equal(weighted.threshold, repeated.threshold, equal_nan=True)
        assert weighted.value == pytest.approx(repeated.value)


def test_rows_select_and_leave_the_rest_out():
    X, _, rng = sample(3)
    y, rows = rng.integers(0, 2, len(X)), np.flatnonzero(rng.random(len(X)) < 0.6)
    values, target = np.ascontiguousarray(X.T), trees.class_target(y, 2)
    part = trees.grow_exact(np.ascontiguousarray(values[:, rows]), trees.class_target(y[rows], 2), Rules())
    for tree in (
        trees.grow_exact(values, target, Rules(), rows=rows),
        trees.grow_binned(trees.bin_columns(values), target, Rules(), rows=rows),
    ):
        assert np.array_equal(tree.feature, part.feature) and np.array_equal(tree.n_rows, part.n_rows)


def test_best_first_without_limit_is_depth_first_and_a_limit_keeps_the_largest_decreases():
    X, _, rng = sample(4, n=200)
    values, target = np.ascontiguousarray(X.T), trees.class_target(rng.integers(0, 2, 200), 2)
    full, best = (trees.grow_exact(values, target, Rules(max_leaf_nodes=m)) for m in (0, 10**6))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(full[:-1], best[:-1], strict=True))
    few = trees.grow_exact(values, target, Rules(max_leaf_nodes=7))
    assert few.n_leaves == 7
    refused = few.reason == trees.REASONS.index("max_leaf_nodes")
    assert refused.any() and few.gain[few.kind != LEAF].min() >= 0


def test_stopping_rules_are_kept():
    X, _, rng = sample(5, n=300)
    values, target = np.ascontiguousarray(X.T), trees.class_target(rng.integers(0, 2, 300), 2, "entropy")
    assert trees.grow_exact(values, target, Rules(max_depth=3)).depth.max() == 3
    tree = trees.grow_exact(values, target, Rules(min_samples_leaf=9))
    assert tree.n_rows.min() >= 9
    tree = trees.grow_exact(values, target, Rules(min_samples_split=20))
    assert tree.n_rows[tree.kind != LEAF].min() >= 20
    tree = trees.grow_exact(values, trees.class_target(X[:, 0] * X[:, 1] > 0.3, 2), Rules(min_gain=0.02))
    assert tree.n_leaves > 3 and tree.gain[tree.kind != LEAF].min() >= 0.02
    inner = tree.kind != LEAF
    assert {trees.REASONS[code] for code in tree.reason[~inner]} <= {"pure", "gain too small", "no admissible cut"}


def test_drawn_columns_depend_on_the_seed_alone():
    X, _, rng = sample(6, n=200)
    values, target = np.ascontiguousarray(X.T), trees.class_target(rng.integers(0, 2, 200), 2)
    one, same, other = (trees.grow_exact(values, target, Rules(max_features=1, seed=s)) for s in (1, 1, 2))
    assert np.array_equal(one.feature, same.feature) and not np.array_equal(one.feature, other.feature)
    assert set(one.feature[one.kind == THRESHOLD]) == {0, 1, 2}
    random = trees.grow_exact(values, target, Rules(random_cuts=True, seed=3))
    assert not np.array_equal(random.threshold, one.threshold)
    assert np.bincount(trees.apply(random, X), minlength=len(random.kind))[random.kind == LEAF].min() > 0


def test_monotone_predictions():
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(400, 2))
    y = X[:, 0] - X[:, 1] + rng.normal(size=400)
    tree = trees.grow_exact(np.ascontiguousarray(X.T), trees.real_target(y), Rules(), monotone=[1, -1])
    line = np.linspace(0, 1, 300)
    for other in (0.1, 0.5, 0.9):
        assert np.diff(trees.predict(tree, np.column_stack([line, np.full(300, other)]))[:, 0]).min() >= 0
        assert np.diff(trees.predict(tree, np.column_stack([np.full(300, other), line]))[:, 0]).max() <= 0


def test_two_rows_are_divided_at_the_first_column_that_divides_them():
    rng = np.random.default_rng(0)
    for _ in range(50):  # all columns divide them equally well; rounding must not decide
        X, y = rng.standard_normal((2, 5)), rng.standard_normal(2) * 1e-6 + rng.choice([0.1, 1e3, 1e7])
        X[1, 0] = X[0, 0]
        weights = rng.uniform(0.1, 10.0, 2)
        target = trees.real_target(y, "squared_error", weights)
        tree = trees.grow_exact(np.ascontiguousarray(X.T), target, Rules())
        assert tree.feature[0] == 1, y


def test_agrees_with_scikit_learn_where_there_are_no_ties():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(600, 4)).astype(np.float32).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=600) > 0).astype(int)
    real, values = X[:, 0] + rng.normal(size=600), np.ascontiguousarray(X.T)
    for criterion in ("gini", "entropy"):
        theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
        ours = trees.grow_exact(values, trees.class_target(y, 2, criterion), Rules(max_depth=3))
        compare(ours, theirs, X)
    for criterion in ("squared_error", "absolute_error"):
        theirs = DecisionTreeRegressor(criterion=criterion, max_depth=4, random_state=0).fit(X, real)
        compare(trees.grow_exact(values, trees.real_target(real, criterion), Rules(max_depth=4)), theirs, X)


def compare(ours, theirs, X):
    assert np.array_equal(ours.feature, theirs.tree_.feature)
    assert ours.threshold == pytest.approx(theirs.tree_.threshold)
    assert ours.impurity == pytest.approx(theirs.tree_.impurity)
    assert np.array_equal(trees.apply(ours, X), theirs.apply(X))


def test_predictions_by_the_three_routes():
    X, _, rng = sample(9)
    tree = trees.grow_exact(np.ascontiguousarray(X.T), trees.real_target(rng.normal(size=len(X))), Rules(max_depth=3))
    out = np.ones(len(X))
    trees.add_prediction(tree, X, out, 2.0)
    assert out == pytest.approx(1 + 2 * trees.predict(tree, X)[:, 0])
    assert np.array_equal(trees.apply(tree, np.asfortranarray(X)), trees.apply(tree, X))


def test_edges_declared_beforehand_are_the_only_thresholds():
    X, _, rng = sample(10, n=200)
    bins = trees.bin_columns(np.ascontiguousarray(X.T), edges=[[-0.5, 0.55], None, [0.0]])
    tree = trees.grow_binned(bins, trees.class_target(rng.integers(0, 2, 200), 2), Rules())
    used = {(f, t) for f, t in zip(tree.feature, tree.threshold, strict=True) if f in (0, 2)}
    assert used <= {(0, -0.5), (0, 0.55), (2, 0.0)}
    kept = trees.apply(tree, X)
    assert np.array_equal(
        np.bincount(kept, minlength=len(tree.kind))[tree.kind == LEAF], tree.n_rows[tree.kind == LEAF]
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [7, 8, 200])
def test_packed_nodes_lead_to_the_same_leaves(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(200, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.normal(size=200)
    ours = surefit.DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, y).tree_
    assert worth_packing(ours, 200)
    assert not worth_packing(ours, 0)
    rows = X[:n]
    expected = []
    for x in rows:  # node by node
        node = 0
        while ours.kind[node] != LEAF:
            value = x[ours.feature[node]]
            left = ours.missing_left[node] if np.isnan(value) else value <= ours.threshold[node]
            node = ours.left[node] if left else ours.right[node]
        expected.append(node)
    np.testing.assert_array_equal(packed_leaves(rows, pack(ours)), expected)
    np.testing.assert_array_equal(trees.apply(ours, np.asfortranarray(rows)), expected)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_cuts_of_bins_divide_the_rows_that_the_tree_divides(missing, weighted):
    rng = np.random.default_rng(5)
    X = np.round(rng.standard_normal((400, 4)), 1)
    X[rng.random(X.shape) < missing] = np.nan
    y, weights = rng.standard_normal(400), rng.integers(1, 4, 400).astype(float) if weighted else None
    each = np.ones(400) if weights is None else weights
    for target, values in (
        (trees.real_target(y, "squared_error", weights), y),
        (trees.class_target((y > 0).astype(int), 2, "gini", weights), y > 0),
        (trees.class_target(np.digitize(y, [-0.5, 0.5]), 3, "gini", weights), np.digitize(y, [-0.5, 0.5]) == 2),
    ):
        bins = trees.bin_columns(np.ascontiguousarray(X.T), 255)
        tree = trees.grow_binned(bins, target, Rules(random_cuts=True, seed=3, min_samples_leaf=4))
        leaves = trees.apply(tree, X)
        assert len(np.unique(leaves)) > 20 and np.all(tree.n_rows[np.unique(leaves)] >= 4)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            assert tree.n_rows[leaf] == rows.sum()
            assert tree.values[leaf, -1] == pytest.approx(np.average(values[rows], weights=each[rows]), abs=1e-12)
