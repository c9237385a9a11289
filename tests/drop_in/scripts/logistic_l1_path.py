"""Sparsity of l1-penalized logistic regression."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
used = [
    np.count_nonzero(LogisticRegression(C=C, l1_ratio=1, solver="saga", max_iter=5000).fit(X[:150], y[:150]).coef_)
    for C in (0.02, 0.2, 2)
]
print(used)
assert used == sorted(used) and used[0] < used[-1]
