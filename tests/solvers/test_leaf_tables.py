"""Scores of boosted trees by tables of leaves: the same bits as by descents."""

import numpy as np
import pytest

from surefit import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from surefit.solvers.boosting import leaf_tables
from surefit.solvers.boosting.binning import encode
from surefit.solvers.boosting.gradient import add_scores
from surefit.solvers.boosting.grower import route
from surefit.solvers.boosting.leaf_tables import MANY_ROWS, MANY_TREES, position, tables_of


def _rows(n, d, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X[:, 0] = random.integers(0, 12, n)
    X[random.random((n, d)) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] % 3 + X[:, 1] * X[:, 2] - X[:, d - 1]) + 0.1 * random.normal(size=n)
    return X, y


def _by_descent(words, trees, z):
    z = z.copy()
    for tree in trees:
        for i in range(len(z)):
            z[i] += tree.value[route(words, tree, i)]
    return z


@pytest.mark.parametrize("d", [3, 4, 9])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_scores_have_the_bits_of_descents(d, n_jobs):
    X, y = _rows(400, d)
    model = HistGradientBoostingRegressor(max_iter=MANY_TREES + 1, categorical_features=[0], random_state=0).fit(X, y)
    new, _ = _rows(MANY_ROWS, d, seed=1)
    new[0], new[1, 0] = np.nan, 99.0  # nothing known, and an unknown category
    words, trees = encode(new, model._bins), [trees[0] for trees in model._trees]
    assert tables_of(trees, len(new)) is not None
    z = np.linspace(-1.0, 1.0, len(new))
    found = z.copy()
    add_scores(words, trees, found, n_jobs)
    np.testing.assert_array_equal(found, _by_descent(words, trees, z))


def test_a_tree_may_have_32_leaves_or_none_but_the_root():
    X, y = _rows(400, 4)
    model = HistGradientBoostingRegressor(max_iter=MANY_TREES, max_leaf_nodes=32, min_samples_leaf=1).fit(X, y)
    trees = [trees[0] for trees in model._trees]
    root = model.set_params(min_samples_leaf=400).fit(X, y)._trees[0][0]
    trees[3] = root
    assert max(tree.n_leaves for tree in trees) == 32 and root.n_leaves == 1
    assert tables_of(trees, MANY_ROWS) is not None
    words, z = encode(X, model._bins), np.zeros(len(X))
    add_scores(words, trees, z)
    np.testing.assert_array_equal(z, _by_descent(words, trees, np.zeros(len(X))))


def test_other_trees_descend(monkeypatch):
    X, y = _rows(400, 4)
    large = HistGradientBoostingRegressor(max_iter=MANY_TREES, max_leaf_nodes=33, min_samples_leaf=1).fit(X, y)
    assert tables_of([trees[0] for trees in large._trees], MANY_ROWS) is None
    small = HistGradientBoostingRegressor(max_iter=MANY_TREES).fit(X, y)
    trees = [trees[0] for trees in small._trees]
    assert tables_of(trees, MANY_ROWS - 1) is None and tables_of(trees[1:], MANY_ROWS) is None
    monkeypatch.setattr(leaf_tables, "MOST_COLUMNS", 3)
    assert tables_of(trees, MANY_ROWS) is None


def test_predictions_do_not_depend_on_the_number_of_rows():
    X, y = _rows(600, 5)
    model = HistGradientBoostingClassifier(max_iter=70, max_leaf_nodes=6).fit(X, np.digitize(y, [0.0, 1.0]))
    parts = [model.decision_function(X[start : start + 100]) for start in range(0, 600, 100)]
    np.testing.assert_array_equal(model.decision_function(X), np.concatenate(parts))


def test_positions_differ():
    assert sorted(int(position(np.uint32(1 << k))) for k in range(32)) == list(range(32))
