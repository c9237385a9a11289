"""Gaussian process regression that learns the noise level."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

rng = np.random.RandomState(0)
X = rng.uniform(0, 5, size=(30, 1))
y = np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=30)
model = GaussianProcessRegressor(kernel=1.0 * RBF(1.0) + WhiteKernel(0.1), random_state=0).fit(X, y)
mean, std = model.predict(X, return_std=True)
print(model.kernel_, model.log_marginal_likelihood_value_)
assert 0.005 < model.kernel_.k2.noise_level < 0.2 and std.shape == (30,)
