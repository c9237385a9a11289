"""The notes' tables: exact gains, the tie, the greedy tree of the movie grid, and why impurities are weighted."""

import math
from fractions import Fraction

import numpy as np
import pytest

from surefit import DecisionTreeClassifier, DecisionTreeRegressor, optimal_tree
from surefit.data import load_movie_grid, load_or_table, load_two_numbers_table
from surefit.solvers.trees.flat import LEAF


def entropy(labels):
    p = np.bincount(labels) / len(labels)
    return -sum(q * math.log2(q) for q in p if q > 0)


def gain(left, labels):
    n = len(labels)
    return entropy(labels) - (left.sum() * entropy(labels[left]) + (~left).sum() * entropy(labels[~left])) / n


def test_or_table():
    X, y = load_or_table()
    model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    audit = model.gain_audit()
    assert model.tree_.impurity[0] == pytest.approx(0.650022, abs=5e-7)
    assert audit["feature"].tolist() == [0, 1] and audit["threshold"].tolist() == [0.5, 0.5]
    assert audit["gain"] == pytest.approx([0.316689, 1.0], abs=5e-7)
    assert gain(X[:, 1] <= 0.5, y) == pytest.approx(0.190875, abs=5e-7)
    assert model.tree_.impurity[model.tree_.children(0)] == pytest.approx([1, 0])
    assert model.get_n_leaves() == 3 and model.score(X, y) == 1.0
    gini = DecisionTreeClassifier().fit(X, y)
    assert gini.tree_.impurity[0] == pytest.approx(Fraction(5, 18)) and gini.gain_audit()["gain"][0] == pytest.approx(
        1 / 9
    )
    assert gini.gain_audit()["feature"][0] == 0


def test_two_numbers_table_has_a_tie_that_the_lowest_column_wins():
    X, y = load_two_numbers_table()
    model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    assert model.tree_.impurity[0] == pytest.approx(1.0)
    for j, cut in ((0, 0.56), (1, 0.84)):
        assert gain(X[:, j] <= cut, y) == pytest.approx(0.5487949)
    audit = model.gain_audit()
    assert audit["feature"].tolist() == [0, 1] and audit["threshold"] == pytest.approx([0.56, 0.445])
    assert audit["gain"][0] == pytest.approx(0.5487949)
    assert model.get_n_leaves() == 3 and model.score(X, y) == 1.0
    other = DecisionTreeClassifier(criterion="entropy").fit(X[:, ::-1], y)
    assert other.gain_audit()["threshold"] == pytest.approx([0.84, 0.175])  # the same tie, the other column first
    assert other.get_n_leaves() == 3 and other.score(X[:, ::-1], y) == 1.0
    assert DecisionTreeClassifier().fit(X, y).gain_audit()["gain"][0] == pytest.approx(0.3)


def test_thresholds_of_a_number_line():
    x, y = np.array([10.0, 26, 40, 50, 100, 120]), np.array([0, 0, 0, 1, 1, 0])
    gains = {18: 0.1092, 33: 0.2516, 45: 0.4591, 75: 0.0441, 110: 0.1092}
    for cut, expected in gains.items():
        assert gain(x <= cut, y) == pytest.approx(expected, abs=5e-5)
        only = DecisionTreeClassifier(criterion="entropy", thresholds=[cut], max_depth=1).fit(x[:, None], y)
        assert only.tree_.gain[0] == pytest.approx(expected, abs=5e-5)
    root = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(x[:, None], y).tree_
    assert root.threshold[0] == 45 and root.gain[0] == pytest.approx(gains[45], abs=5e-5)


def test_movie_grid_greedy_and_best():
    X, y = load_movie_grid()
    gains = [
        entropy(y) - sum(np.mean(X[:, j] == v) * entropy(y[X[:, j] == v]) for v in np.unique(X[:, j])) for j in range(4)
    ]
    assert gains == pytest.approx([0, 0.0817, 0.0817, 0.0817], abs=5e-5)
    greedy = DecisionTreeClassifier(
        criterion="entropy", categorical_features=[0, 1, 2, 3], categorical_split="multiway"
    ).fit(X, y)
    assert (greedy.tree_.node_count - greedy.get_n_leaves(), greedy.get_n_leaves()) == (7, 10)
    assert greedy.tree_.feature[0] == 1 and greedy.tree_.gain[0] == pytest.approx(gains[1])
    best = optimal_tree(X, y, categorical_features=[0, 1, 2, 3])
    assert (best.tree.node_count - best.n_leaves, best.n_leaves, best.errors) == (4, 6, 0)
    assert best.tree.feature[0] == 0
    greedy.verify(X, y)


def test_impurity_must_be_weighted_by_node_size():
    y, x = np.array([0] * 8 + [1, 0]), np.arange(10.0)[:, None]
    weighted = [1.7778, 1.75, 1.7143, 1.6667, 1.6, 1.5, 1.3333, 1.0, 1.7778]
    for k, expected in enumerate(weighted, start=1):
        p = [np.mean(part) for part in (y[:k], y[k:])]
        assert k * 2 * p[0] * (1 - p[0]) + (10 - k) * 2 * p[1] * (1 - p[1]) == pytest.approx(expected, abs=5e-5)
    stump = DecisionTreeClassifier(max_depth=1).fit(x, y).tree_
    assert stump.n_rows[1] == 8 and stump.weight[1:] @ stump.impurity[1:] == pytest.approx(1.0)


def test_gini_of_two_classes_is_twice_the_squared_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    classes, squares = DecisionTreeClassifier().fit(X, y).tree_, DecisionTreeRegressor().fit(X, y).tree_
    assert np.array_equal(classes.feature, squares.feature)
    assert np.array_equal(classes.threshold, squares.threshold, equal_nan=True)
    assert classes.impurity == pytest.approx(2 * squares.impurity)
    assert classes.values[:, 1] == pytest.approx(squares.values[:, 0])


def test_misclassification_can_be_blind():
    # 400 against 400: both splits leave 200 errors, Gini tells them apart
    first, second = [0] * 300 + [1] * 100, [1] * 300 + [0] * 100
    pure, mixed = [0] * 200, [0] * 200 + [1] * 400
    X = np.column_stack([np.repeat([0.0, 1.0], 400), np.repeat([0.0, 1.0, 0.0, 1.0], [200, 200, 200, 200])])
    y = np.array(first + second)
    X[:, 1] = 1.0
    X[np.flatnonzero(y == 0)[:200], 1] = 0.0
    assert sorted(y[X[:, 1] == 0.0]) == pure and sorted(y[X[:, 1] == 1.0]) == mixed
    blind = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(X, y).tree_
    assert blind.feature[0] == 0 and 800 * blind.gain[0] == pytest.approx(200)  # a tie, the lowest column wins
    gini = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    leaves = gini.kind == LEAF
    assert gini.feature[0] == 1 and gini.weight[leaves] @ gini.impurity[leaves] == pytest.approx(800 / 3)
