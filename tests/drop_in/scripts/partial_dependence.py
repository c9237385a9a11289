"""Partial dependence of a boosted model, computed and drawn."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import PartialDependenceDisplay, partial_dependence

rng = np.random.RandomState(0)
X = rng.rand(120, 3)
model = HistGradientBoostingRegressor(max_iter=10).fit(X, X[:, 0] ** 2)
found = partial_dependence(model, X, [0], kind="average", grid_resolution=10)
PartialDependenceDisplay.from_estimator(model, X, [0, 1], grid_resolution=5)
plt.close("all")
assert found["average"][0, -1] > found["average"][0, 0]
