"""The methods of scikit-learn's ``tree_``: the node, the path and the value of each row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier as Reference

from surefit import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    optimal_tree,
)

X, Y = load_iris(return_X_y=True)


def test_nodes_and_values_of_rows():
    model, peer = DecisionTreeClassifier(max_depth=3).fit(X, Y), Reference(max_depth=3, random_state=0).fit(X, Y)
    rows = X.astype(np.float32)
    nodes = model.tree_.apply(rows)
    assert nodes.dtype == peer.tree_.apply(rows).dtype
    np.testing.assert_array_equal(nodes, model.apply(rows))
    np.testing.assert_array_equal(model.tree_.apply(sparse.csr_array(X)), model.apply(X))
    assert model.tree_.predict(rows).shape == peer.tree_.predict(rows).shape
    np.testing.assert_array_equal(model.tree_.predict(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        np.bincount(nodes, minlength=model.tree_.node_count)[nodes], model.tree_.n_node_samples[nodes]
    )
    path = model.tree_.decision_path(sparse.csr_matrix(X))
    assert path.shape == (150, model.tree_.node_count) and (path != model.decision_path(X)).nnz == 0
    np.testing.assert_array_equal(path.sum(axis=1).A1 - 1, model.tree_.depth[nodes])


def test_several_outputs_and_members_of_a_forest():
    tree = DecisionTreeRegressor(max_depth=2).fit(X, np.column_stack([Y, -Y])).tree_
    assert tree.predict(X).shape == (150, 2, 1)
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    for member in forest:
        np.testing.assert_array_equal(member.tree_.apply(X), member.apply(X))


TREES = {
    "exact": lambda: DecisionTreeClassifier().fit(X, Y).tree_,
    "pruned": lambda: DecisionTreeRegressor(ccp_alpha=0.01).fit(X, Y).tree_,
    "best first": lambda: DecisionTreeClassifier(max_leaf_nodes=5).fit(X, Y).tree_,
    "two classes of a forest": lambda: RandomForestClassifier(1, random_state=0).fit(X, Y == 1).estimators_[0].tree_,
    "extra trees": lambda: ExtraTreesRegressor(1, random_state=0).fit(X, Y).estimators_[0].tree_,
    "optimal": lambda: optimal_tree(X[:, 2:].round(), Y, max_depth=2).tree,
}


@pytest.mark.parametrize("grown", TREES)
def test_leaves_have_the_column_and_the_threshold_of_scikit_learn(grown):
    tree, peer = TREES[grown](), Reference(random_state=0).fit(X, Y).tree_
    leaf, other = tree.children_left == -1, peer.children_left == -1
    for name in ("feature", "threshold"):
        assert set(getattr(tree, name)[leaf]) == set(getattr(peer, name)[other]) == {-2}
    assert leaf.sum() == tree.n_leaves > 1 and np.isfinite(tree.threshold).all() and (tree.feature[~leaf] >= 0).all()


def test_splits_of_categories_have_no_threshold():
    tree = DecisionTreeClassifier(categorical_features=[0]).fit(Y[:, None].astype(float), Y).tree_
    leaf = tree.left < 0
    assert np.isnan(tree.threshold[~leaf]).all() and (tree.threshold[leaf] == -2).all()
