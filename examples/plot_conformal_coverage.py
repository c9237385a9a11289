"""
Conformal prediction: do the intervals reach their stated coverage?
===================================================================

Intervals around a ridge regression, calibrated on rows that it has not seen, and their coverage on test rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import ConformalRegressor, Ridge

X, y = load_diabetes(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, test = order[:342], order[342:]
model = ConformalRegressor(Ridge(0.1), coverage=0.9, random_state=0).fit(X[train], y[train])
low, high = np.asarray(model.predict_interval(X[test])).T
print(f"covered: {np.mean((low <= y[test]) & (y[test] <= high)):.0%}")

rank = np.argsort(model.predict(X[test]))
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.fill_between(np.arange(100), low[rank], high[rank], alpha=0.2, label="90 % interval")
axes.plot(np.arange(100), y[test][rank], "k.", label="target")
axes.set(xlabel="test rows, sorted by prediction")
axes.legend()
plt.show()
