"""Lower and upper quantiles enclose most targets."""

import numpy as np
from sklearn.linear_model import QuantileRegressor

rng = np.random.RandomState(42)
x = np.linspace(0, 10, 100)
y = 10 + 0.5 * x + (0.5 + 0.2 * x) * rng.normal(size=100)
low, high = (QuantileRegressor(quantile=q, alpha=0).fit(x[:, None], y).predict(x[:, None]) for q in (0.05, 0.95))
assert 0.85 <= np.mean((low <= y) & (y <= high)) <= 0.95
