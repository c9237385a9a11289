"""Support vector regression of a sine."""

import numpy as np
from sklearn.svm import SVR

rng = np.random.RandomState(0)
X = np.sort(5 * rng.rand(40, 1), axis=0)
y = np.sin(X).ravel()
y[::5] += 3 * (0.5 - rng.rand(8))
model = SVR(kernel="rbf", C=100, gamma=0.1, epsilon=0.1).fit(X, y)
assert np.mean(np.abs(model.predict(X) - np.sin(X).ravel())) < 0.25
