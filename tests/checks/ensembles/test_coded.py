"""Rows given by the numbers of thresholds below their entries reach the same leaves as rows given by their entries."""

from dataclasses import replace

import numpy as np
import pytest

from surefit import RandomForestClassifier
from surefit.checks.ensembles.coded import MOST, coded
from surefit.checks.ensembles.packed import PackedTree, leaves_of
from surefit.core.errors import CertificateError

VALUES = np.array([-np.inf, -2.5, -0.0, 0.0, 1e-300, 1.0, np.nextafter(1.0, 2.0), 7.0, np.inf, np.nan])


def random_tree(rng, d, cuts, inner=40):
    """Return a tree with random columns, thresholds and sides of missing values; leaves are split at random."""
    feature, threshold, left, right = [-2], [-2.0], [-1], [-1]
    for _ in range(inner):
        node = rng.choice([k for k, j in enumerate(feature) if j < 0])
        feature[node], threshold[node] = rng.integers(d), rng.choice(cuts)
        left[node], right[node] = len(feature), len(feature) + 1
        for line, value in ((feature, -2), (threshold, -2.0), (left, -1), (right, -1)):
            line += [value, value]
    missing_left = rng.random(len(feature)) < 0.5
    whole = (np.array(line, dtype=np.int32) for line in (feature, left, right))
    feature, left, right = whole
    return PackedTree(feature, np.array(threshold), left, right, missing_left, np.zeros((len(feature), 1)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_leaves_are_those_of_the_entries(seed, threads):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 4, VALUES[:-1]) for _ in range(6)]
    X, rows = rng.choice(VALUES, (9000, 4)), rng.integers(0, 9000, 700)  # several blocks, with repetitions
    rows_by_code = coded(X, trees, threads)
    for tree in trees:
        np.testing.assert_array_equal(rows_by_code.leaves_of(rows, tree), leaves_of(X, rows, tree))
        assert len(rows_by_code.leaves_of(rows[:0], tree)) == 0


def test_two_nodes_may_share_a_child_and_a_tree_may_be_a_leaf():
    def tree(*lines):
        feature, left, right = (np.array(line, dtype=np.int32) for line in lines)
        return PackedTree(feature, np.arange(len(feature)) / 4, left, right, feature == 1, np.zeros((len(feature), 1)))

    trees = [tree([0, 1, 0, -2, -2, -2], [1, 3, 4, -1, -1, -1], [2, 4, 5, -1, -1, -1]), tree([-2], [-1], [-1])]
    X, rows = np.random.default_rng(0).choice([-1.0, 0.1, 0.3, 0.9, np.nan], (50, 2)), np.arange(50)
    for each in trees:
        np.testing.assert_array_equal(coded(X, trees, 1).leaves_of(rows, each), leaves_of(X, rows, each))


def test_many_thresholds_columns_or_missing_thresholds_are_left_to_the_entries():
    rng = np.random.default_rng(3)
    X, stump = rng.standard_normal((20, 2)), random_tree(rng, 1, [0.0], 1)
    trees = [stump._replace(threshold=np.full(3, t)) for t in rng.permutation(MOST + 1) / 10.0]
    assert coded(X, trees[:-1], 1) is not None
    assert coded(X, trees, 1) is None
    assert coded(X, [stump, stump._replace(threshold=np.full(3, np.nan))], 1) is None
    assert coded(np.zeros((20, 9)), [stump], 1) is None


@pytest.mark.parametrize("name", ["tree_threshold_", "tree_feature_", "tree_left_"])
def test_a_tree_with_other_nodes_is_refused(name):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 5))
    y = X[:, 0] + rng.standard_normal(300) > 0
    certificate = RandomForestClassifier(5, random_state=0).fit(X, y).certificate_
    node = int(certificate.model["tree_starts_"][3])  # the root of the fourth tree
    line = certificate.model[name].copy()
    line[node] += 1
    changed = replace(certificate, subject=None, seal="", model={**certificate.model, name: line})
    assert replace(certificate, subject=None, seal="").verify(X, y)["forest.leaves"].ok
    with pytest.raises(CertificateError, match="forest.leaves"):
        changed.verify(X, y)
