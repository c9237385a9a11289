"""Loaded trees and sparse matrices refer to what exists: a forged file is refused before compiled code follows it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import surefit
from surefit.core.errors import PersistenceError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
y = X[:, 0] + 0.3 * RNG.normal(size=60)
TREE = {
    "left": -5,
    "right": 10**6,
    "feature": 3,
    "kind": 7,
}


def reloaded(model, folder):
    surefit.save(model, folder / "model.surefit", overwrite=True)
    return surefit.load(folder / "model.surefit")


def with_entry(tree, name, value):
    array = getattr(tree, name).copy()
    array[0] = value
    return tree._replace(**{name: array})


@pytest.mark.parametrize("name", TREE)
def test_a_forged_tree_is_refused(tmp_path, name):
    model = surefit.DecisionTreeRegressor(max_depth=3).fit(X, y)
    reloaded(model, tmp_path).verify(X, y)
    model.tree_ = with_entry(model.tree_, name, TREE[name])
    with pytest.raises(PersistenceError, match="damaged"):
        reloaded(model, tmp_path)


def test_a_tree_that_never_ends_is_refused(tmp_path):
    model = surefit.RandomForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    reloaded(model, tmp_path).verify(X, y)
    model.trees_[2] = with_entry(model.trees_[2], "left", 0)
    with pytest.raises(PersistenceError, match="child does not follow"):
        reloaded(model, tmp_path)


@pytest.mark.parametrize("name", ["left", "right", "feature"])
def test_a_forged_boosted_tree_is_refused(tmp_path, name):
    model = surefit.HistGradientBoostingRegressor(max_iter=2).fit(X, y)
    reloaded(model, tmp_path).verify(X, y)
    trees = next(value for value in model.__dict__.values() if isinstance(value, list) and value)
    first = trees[0] if hasattr(trees[0], "_fields") else trees[0][0]
    forged = with_entry(first, name, TREE[name])
    if first is trees[0]:
        trees[0] = forged
    else:
        trees[0] = [forged, *trees[0][1:]]
    with pytest.raises(PersistenceError, match="damaged"):
        reloaded(model, tmp_path)


@pytest.mark.parametrize("multiway", [False, True])
def test_categories_outside_of_the_stored_ones_are_refused(tmp_path, multiway):
    letters = RNG.integers(0, 4, size=60)
    table = pd.DataFrame({"c": np.array(list("abcd"))[letters], "x": X[:, 0]})
    options = {"categorical_split": "multiway"} if multiway else {}
    model = surefit.DecisionTreeRegressor(max_depth=2, categorical_features=["c"], **options).fit(table, letters * 1.0)
    reloaded(model, tmp_path).verify(table, letters * 1.0)
    node = int(np.flatnonzero(model.tree_.kind >= 2)[0])
    start = model.tree_.start.copy()
    start[node] = 10**6
    model.tree_ = model.tree_._replace(start=start)
    with pytest.raises(PersistenceError, match="not stored"):
        reloaded(model, tmp_path)


def test_a_forged_sparse_matrix_is_refused(tmp_path):
    model = surefit.LogisticRegression().fit(X, y > 0).sparsify()
    reloaded(model, tmp_path).verify(X, y > 0)
    assert sparse.issparse(model.coef_)
    model.coef_.indices[0] = 10**6
    with pytest.raises(PersistenceError, match="damaged"):
        reloaded(model, tmp_path)
