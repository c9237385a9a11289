"""Bagging of trees lowers the error of one."""

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.tree import DecisionTreeClassifier

rng = np.random.RandomState(0)
X = rng.rand(100, 2)
y = (X.sum(axis=1) > 1).astype(int)
model = BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0).fit(X, y)
assert model.score(X, y) > 0.95 and len(model.estimators_) == 5
assert BaggingRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.95
