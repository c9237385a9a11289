"""Counts with a log link."""

import numpy as np
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

rng = np.random.RandomState(0)
X = rng.normal(size=(200, 2))
y = rng.poisson(np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1]))
model = PoissonRegressor(alpha=1e-4).fit(X, y)
assert np.allclose(model.coef_, [0.5, -0.3], atol=0.2) and model.predict(X).min() > 0
assert mean_poisson_deviance(y, model.predict(X)) < mean_poisson_deviance(y, np.full(200, y.mean()))
