"""Trees as text, DOT and figures: scikit-learn's own functions see the same nodes."""

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_iris

import surefit


@pytest.fixture(scope="module")
def pair():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    model = surefit.DecisionTreeClassifier(max_depth=2).fit(X, y)
    return model, theirs.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)


def test_text_is_that_of_scikit_learn(pair):
    model, other = pair
    # The first split is tied between both petal columns; every line but those of the split itself agrees.
    own, wanted = surefit.export_text(model).splitlines(), theirs.export_text(other).splitlines()
    assert [line.count("|") for line in own] == [line.count("|") for line in wanted]
    assert [line for line in own if "class" in line] == [line for line in wanted if "class" in line]


def test_dot_and_figure_have_one_entry_per_node(pair):
    model, _ = pair
    text = surefit.export_graphviz(model, feature_names=list("abcd"), filled=True)
    assert text.count("label=") >= model.tree_.node_count
    assert text.count("->") == model.tree_.node_count - 1
    drawn = surefit.plot_tree(model, class_names=["x", "y", "z"])
    assert sum("samples" in each.get_text() for each in drawn) == model.tree_.node_count


def test_members_of_a_forest_and_categorical_trees():
    X, y = load_iris(return_X_y=True)
    forest = surefit.RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    assert "class" in surefit.export_text(forest.estimators_[0])
    codes = np.arange(12.0)[:, None] % 4
    tree = surefit.DecisionTreeClassifier(categorical_features=[0]).fit(codes, codes[:, 0] % 2)
    assert surefit.export_text(tree) == tree.export_text()
