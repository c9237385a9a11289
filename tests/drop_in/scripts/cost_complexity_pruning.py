"""Pruning a tree by its cost-complexity path."""

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
sizes = [
    DecisionTreeClassifier(random_state=0, ccp_alpha=a).fit(X, y).get_n_leaves() for a in path.ccp_alphas[[0, -3, -1]]
]
print(sizes)
assert sizes[0] > sizes[1] > sizes[2] == 1
