"""Regression trees of two depths on a sine."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

rng = np.random.RandomState(1)
X = np.sort(5 * rng.rand(80, 1), axis=0)
y = np.sin(X).ravel()
y[::5] += 3 * (0.5 - rng.rand(16))
shallow, deep = (DecisionTreeRegressor(max_depth=d).fit(X, y) for d in (2, 5))
assert shallow.score(X, y) < deep.score(X, y)
