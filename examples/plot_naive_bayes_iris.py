"""
Naive Bayes: is independence a good model of iris?
==================================================

The MAP rule with independent normal columns against full covariances, by cross-validated error.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from surefit import MAPClassifier, cross_validate

X, y = load_iris(return_X_y=True)
models = {"independent columns": MAPClassifier("diagonal"), "full covariances": MAPClassifier("full")}
result = cross_validate(models, X, y, cv=10, random_state=0, assume=("equal_rows_are_draws",))

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.errorbar(result.means, [0, 1], xerr=result.standard_errors, fmt="o", capsize=4)
axes.set(yticks=[0, 1], yticklabels=list(models), xlabel="cross-validated error", ylim=(-0.6, 1.6))
plt.show()
