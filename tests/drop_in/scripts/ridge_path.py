"""Coefficients of ridge regression along the penalty."""

import numpy as np
from sklearn import linear_model

X = 1.0 / (np.arange(1, 11) + np.arange(0, 10)[:, np.newaxis])
y = np.ones(10)
coefs = [linear_model.Ridge(alpha=a, fit_intercept=False).fit(X, y).coef_ for a in np.logspace(-10, -2, 10)]
assert np.all(np.diff(np.linalg.norm(coefs, axis=1)) < 0)
