"""Samples of a Gaussian process before and after it has seen data."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

grid = np.linspace(0, 5, 20)[:, None]
model = GaussianProcessRegressor(kernel=1.0 * RBF(1.0, length_scale_bounds=(0.1, 10)), random_state=0)
assert model.sample_y(grid, 3).shape == (20, 3)
mean, std = model.fit(grid[::4], np.sin(grid[::4, 0])).predict(grid, return_std=True)
assert std[::4].max() < 1e-3 < std.max()
