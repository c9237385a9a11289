"""The fast trees with random cuts are those of the general grower, bit by bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

import surefit
from surefit.solvers.trees import FlatTree, Rules, bin_columns, class_target, grow_binned, grow_random, real_target
from surefit.solvers.trees.draws import last_code


def assert_same_trees(X, target, rules, rows=None):
    """Compare all fields of the two trees; return the fast one."""
    bins = bin_columns(np.ascontiguousarray(X.T))
    fast = grow_random(np.ascontiguousarray(bins.codes.T), bins.edges, target, rules, rows=rows)
    general = grow_binned(bins, target, rules, rows=rows)
    for name in FlatTree._fields:
        ours, theirs = getattr(fast, name), getattr(general, name)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
    return fast


def targets(y, weights=None):
    yield real_target(y, "squared_error", weights)
    yield real_target(np.exp(y), "poisson", weights)
    for criterion in ("gini", "entropy", "misclassification"):
        yield class_target((y > 0).astype(int), 2, criterion, weights)
        yield class_target(np.digitize(y, [-0.5, 0.5]), 3, criterion, weights)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"max_features": 2},
        {"max_depth": 4},
        {"min_samples_split": 30},
        {"min_samples_leaf": 7, "max_features": 1},
        {"min_weight_leaf": 5.5},
        {"min_impurity_decrease": 0.01},
        {"min_gain": 0.005},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_the_general_grower(rules, weighted):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((500, 3)), rng.integers(0, 3, 500), np.ones(500)])
    y = X[:, 0] + 0.3 * rng.standard_normal(500)
    counts = rng.integers(0, 4, 500) * 0.75
    rows = np.flatnonzero(counts) if weighted else None
    for target in targets(y, counts if weighted else None):
        tree = assert_same_trees(X, target, Rules(random_cuts=True, seed=11, **rules), rows)
        assert tree.n_leaves > 1 and np.all(tree.end[tree.right[tree.left >= 0]] == tree.end[tree.left >= 0])


@settings(max_examples=30)
@given(st.integers(0, 100_000))
def test_ties_are_broken_alike(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (60, 4)).astype(float), rng.standard_normal(60).round(1)
    for target in targets(y):
        assert_same_trees(X, target, Rules(random_cuts=True, seed=seed, max_features=int(rng.integers(1, 5))))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n):
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(float(n))
    tree = assert_same_trees(X, real_target(y), Rules(random_cuts=True, min_samples_leaf=1))
    assert tree.n_leaves == n
    assert assert_same_trees(X, real_target(y), Rules(random_cuts=True, min_samples_leaf=5)).n_leaves == 1
    assert assert_same_trees(X, real_target(np.zeros(n)), Rules(random_cuts=True)).n_leaves == 1


@pytest.mark.parametrize("options", [{}, {"subset": "tree"}, {"bootstrap": True}], ids=str)
def test_forests_grow_the_same_trees_with_and_without_the_fast_grower(options):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((300, 5)), rng.standard_normal(300)
    options = {"n_estimators": 4, "max_features": 3, "random_state": 1, **options}
    for kind, target in ((surefit.ExtraTreesRegressor, y), (surefit.ExtraTreesClassifier, (y > 0).astype(int))):
        fast = kind(**options).fit(X, target)
        general = kind(**options, monotonic_cst=[0] * 5).fit(X, target)  # no constraint, but the general grower
        for ours, theirs in zip(fast.trees_, general.trees_, strict=True):
            for name in FlatTree._fields:
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_a_random_cut_of_bins_is_uniform_between_their_centers():
    edges = np.array([0.0, 1.0, 10.0, 100.0, np.inf, np.inf])  # centers of the five bins: 0, 0.5, 5.5, 55, 100
    shares = [0.0, 0.0049, 0.0051, 0.0549, 0.0551, 0.5499, 0.5501, 0.9999]
    assert [last_code(edges, 0, 4, share) for share in shares] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [last_code(edges, 1, 3, share) for share in (0.0, 0.09, 0.0918, 0.99)] == [1, 1, 2, 2]  # from 0.5 to 55
    assert last_code(edges, 2, 3, 0.9) == 2 and last_code(edges, 3, 3, 0.5) == 3
    assert last_code(np.full(3, np.inf), 0, 2, 0.6) == 1  # categories: uniform over codes
    assert last_code(np.array([-1.7e308, 0.0, 1.7e308]), 0, 3, 0.7) == 2  # the difference overflows


@pytest.mark.parametrize("kind", [surefit.ExtraTreesClassifier, surefit.RandomForestClassifier])
def test_cuts_of_binned_columns_are_as_accurate_as_those_of_values(kind):
    rng = np.random.default_rng(0)
    angle, inner = rng.uniform(0, 2 * np.pi, 3000), rng.random(3000) < 0.5
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(inner, 0.5, 1.0)[:, None]
    X += 0.08 * rng.standard_normal(X.shape)
    losses = []
    for max_bins in (255, None):
        model = kind(50, max_bins=max_bins, random_state=0, n_jobs=2).fit(X[:1000], inner[:1000])
        losses.append(log_loss(inner[1000:], np.clip(model.predict_proba(X[1000:]), 0.01, 0.99)))
    assert losses[0] < 1.15 * losses[1]
