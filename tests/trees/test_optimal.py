"""The best tree of a small problem against brute force of another kind."""

import itertools

import numpy as np
import pytest

from surefit import optimal_tree
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.data import make_xor
from surefit.solvers.trees import predict


def least_errors(X, y, w, depth):
    """Least weight of errors over all trees of a depth, by plain recursion on the rows."""
    leaf = w.sum() - max((w[y == c].sum() for c in np.unique(y)), default=0.0)
    if depth == 0 or leaf == 0:
        return leaf
    cuts = [(j, t) for j in range(X.shape[1]) for t in np.unique(X[:, j])[:-1]]
    splits = (X[:, j] <= t for j, t in cuts)
    return min(
        [
            leaf,
            *(least_errors(X[m], y[m], w[m], depth - 1) + least_errors(X[~m], y[~m], w[~m], depth - 1) for m in splits),
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_the_least(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.integers(0, 2, (30, 4)).astype(float), rng.integers(0, 3, 30), rng.integers(0, 3, 30).astype(float)
    for depth, weights in itertools.product((1, 2), (None, w)):
        used = np.ones(30) if weights is None else w
        best = optimal_tree(X, y, max_depth=depth, sample_weight=weights)
        assert best.errors == pytest.approx(least_errors(X, y, used, depth))
        found = predict(best.tree, X).argmax(axis=1) != y
        assert used @ found == pytest.approx(best.errors)
        assert best.gap >= -1e-12 and best.tree.depth.max() <= depth


def test_exclusive_or_needs_two_levels_that_greed_does_not_find():
    X, y, _ = make_xor(40, random_state=0)
    best = optimal_tree(X, y, max_depth=2)
    assert best.errors == 0 and best.n_leaves == 4 and best.gap > 0.1
    dear = optimal_tree(X, y, max_depth=2, alpha=0.5)
    assert dear.n_leaves == 1 and dear.cost == pytest.approx(0.5 + min(np.mean(y > 0), np.mean(y < 0)))


def test_says_what_it_wants():
    X, y = np.zeros((3, 1)), np.array([0, 1, 0])
    with pytest.raises(InvalidParameter, match="max_depth must be an integer >= 1; got 0"):
        optimal_tree(X, y, max_depth=0)
    with pytest.raises(InvalidData, match="X has 3 rows but y has 2"):
        optimal_tree(X, y[:2])
    with pytest.raises(InvalidData, match="at most 512"):
        optimal_tree(np.zeros((600, 1)), np.zeros(600))
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidData, match="more than 20 subproblems"):
        optimal_tree(rng.normal(size=(50, 3)), rng.integers(0, 2, 50), max_subproblems=20)
