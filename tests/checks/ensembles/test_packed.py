"""Rows reach the leaves to which the definition of a tree sends them; trees out of order are refused."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from surefit.checks.ensembles.packed import PackedTree, leaves_of, packed_trees


def tree_of(X, y, depth=None):
    tree = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).tree_
    arrays = tree.feature, tree.threshold, tree.children_left, tree.children_right
    return PackedTree(*map(np.ascontiguousarray, arrays), tree.missing_go_to_left.astype(bool), tree.value[:, 0])


def descend(x, tree):
    node = 0
    while tree.feature[node] >= 0:
        value = x[tree.feature[node]]
        left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
        node = tree.left[node] if left else tree.right[node]
    return node


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("depth", [None, 1, 5])
def test_leaves_are_those_of_a_descent_row_by_row(missing, depth):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((700, 3)).astype(np.float32).astype(float), rng.standard_normal(700)
    X[rng.random(X.shape) < missing] = np.nan
    tree, rows = tree_of(X, y, depth), rng.integers(0, 700, 600)  # more than one block, with repetitions
    np.testing.assert_array_equal(leaves_of(X, rows, tree), [descend(X[i], tree) for i in rows])
    assert len(leaves_of(X, rows[:0], tree)) == 0


def test_a_tree_may_be_a_leaf():
    X, y = np.zeros((5, 2)), np.arange(5.0)
    np.testing.assert_array_equal(leaves_of(X, np.arange(5), tree_of(X, y)), np.zeros(5))


@pytest.mark.parametrize(("name", "value"), [("left", 0), ("right", 0), ("left", 99), ("right", -1)])
def test_children_must_come_after_their_parents_and_before_the_end(name, value):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    trees = [tree_of(X, y, 2), tree_of(X, -y, 3)]
    model = {f"tree_{k}_": np.concatenate([getattr(tree, k) for tree in trees]) for k in PackedTree._fields}
    model["tree_starts_"] = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    assert len(packed_trees(model, 2)) == 2
    for starts in ([0, len(model["tree_feature_"]) + 9], [1, len(model["tree_feature_"])]):
        with pytest.raises(ValueError, match="cover"):
            packed_trees({**model, "tree_starts_": np.array(starts, dtype=np.uint64)}, 2)
    with pytest.raises(ValueError, match="one entry"):  # a tree may not end before it starts
        packed_trees({**model, "tree_starts_": np.array([0, 2**40, len(model["tree_feature_"])], dtype=np.uint64)}, 2)
    model[f"tree_{name}_"][model["tree_starts_"][1]] = value  # the root of the second tree
    with pytest.raises(ValueError, match="not in order"):
        packed_trees(model, 2)
