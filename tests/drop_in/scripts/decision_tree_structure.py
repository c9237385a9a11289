"""A small decision tree on iris, its depth and its rules."""

from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

X, y = load_iris(return_X_y=True)
tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
assert tree.get_n_leaves() == 3 and tree.get_depth() == 2
assert tree.apply(X).shape == (150,) and tree.score(X, y) > 0.94
