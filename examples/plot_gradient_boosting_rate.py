"""
Gradient boosting: how many trees does a small learning rate need?
==================================================================

The error on test rows against the number of trees, for three learning rates on the diabetes data. Small steps need more trees;
large steps overfit after a few.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import HistGradientBoostingRegressor

X, y = load_diabetes(return_X_y=True)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for rate in (0.02, 0.1, 0.5):
    model = HistGradientBoostingRegressor(learning_rate=rate, max_iter=100, max_leaf_nodes=7).fit(X[:300], y[:300])
    errors = [np.mean((f - y[300:]) ** 2) for f in model.staged_predict(X[300:])]
    axes.plot(np.arange(1, len(errors) + 1), errors, label=f"learning rate {rate}")
axes.set(xlabel="trees", ylabel="mean squared error on 142 test rows")
axes.legend()
plt.show()
