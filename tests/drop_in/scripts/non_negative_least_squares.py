"""Non-negative least squares against ordinary least squares."""

import numpy as np
from sklearn.linear_model import LinearRegression

rng = np.random.RandomState(42)
X = rng.randn(100, 20)
true = 3 * rng.randn(20)
true[true < 0] = 0
y = X @ true + 0.5 * rng.normal(size=100)
nnls, ols = LinearRegression(positive=True).fit(X, y), LinearRegression().fit(X, y)
assert np.all(nnls.coef_ >= 0) and np.sum((nnls.coef_ - true) ** 2) < np.sum((ols.coef_ - true) ** 2)
