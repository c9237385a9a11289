"""Gaussian process classification of two classes."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

rng = np.random.RandomState(0)
X = rng.uniform(0, 5, 40)[:, np.newaxis]
y = (X[:, 0] > 2.5).astype(int)
model = GaussianProcessClassifier(kernel=1.0 * RBF(1.0)).fit(X, y)
assert model.score(X, y) > 0.9 and model.predict_proba([[0.0], [5.0]])[1, 1] > 0.5
