"""Kernel ridge regression with a grid of penalties."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

rng = np.random.RandomState(0)
X = 5 * rng.rand(60, 1)
y = np.sin(X).ravel()
search = GridSearchCV(KernelRidge(kernel="rbf", gamma=0.1), param_grid={"alpha": [1.0, 0.01], "gamma": [0.1, 1.0]}).fit(
    X, y
)
print(search.best_params_, search.best_score_)
assert search.best_score_ > 0.98 and len(search.cv_results_["params"]) == 4
