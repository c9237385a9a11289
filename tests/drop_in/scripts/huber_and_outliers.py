"""Huber regression resists outliers that ruin ridge regression."""

import numpy as np
from sklearn.linear_model import HuberRegressor, Ridge

rng = np.random.RandomState(0)
X = np.r_[rng.normal(size=(40, 1)), 4 + 0.1 * rng.normal(size=(4, 1))]
y = np.r_[2 * X[:40, 0], -20 * np.ones(4)]
huber, ridge = HuberRegressor(alpha=0.0, epsilon=1.35).fit(X, y), Ridge(alpha=0.0).fit(X, y)
print(huber.coef_, ridge.coef_, huber.outliers_.sum())
assert abs(huber.coef_[0] - 2) < 0.2 < abs(ridge.coef_[0] - 2) and huber.outliers_.sum() >= 4
