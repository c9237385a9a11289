"""Monotonicity constraints of boosted trees."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

rng = np.random.RandomState(0)
X = rng.rand(200, 2)
y = 5 * X[:, 0] + np.sin(10 * np.pi * X[:, 0]) - 5 * X[:, 1] + 0.1 * rng.randn(200)
model = HistGradientBoostingRegressor(max_iter=30, monotonic_cst=[1, -1]).fit(X, y)
grid = np.linspace(0, 1, 50)
assert np.all(np.diff(model.predict(np.c_[grid, np.full(50, 0.5)])) >= 0)
assert np.all(np.diff(model.predict(np.c_[np.full(50, 0.5), grid])) <= 0)
