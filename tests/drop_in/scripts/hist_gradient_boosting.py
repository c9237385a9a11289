"""Boosted trees with missing values and categories."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

rng = np.random.RandomState(0)
X = np.c_[rng.randn(200), rng.randint(0, 4, 200)]
y = X[:, 0] + (X[:, 1] == 2)
X[::9, 0] = np.nan
model = HistGradientBoostingRegressor(max_iter=30, categorical_features=[1], random_state=0).fit(X, y)
assert model.score(X, y) > 0.7 and model.is_categorical_.tolist() == [False, True]
assert HistGradientBoostingClassifier(max_iter=10).fit(X, y > 0.3).predict_proba(X).shape == (200, 2)
