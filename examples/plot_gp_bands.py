"""
Gaussian process: do its bands cover the truth?
===============================================

Posterior bands of a Gaussian process with learned length scale, on data with a known regression function.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import GaussianProcessRegressor
from surefit.kernels import RBF

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 40))[:, None]


def truth(t):
    return np.sin(t) + 0.3 * t


y = truth(x[:, 0]) + 0.2 * rng.standard_normal(40)
model = GaussianProcessRegressor(RBF(gamma=0.5), alpha=0.04, normalize_y=True).fit(x, y)
grid = np.linspace(-1, 12, 300)[:, None]
mean, sd = model.predict(grid, return_std=True)
inside = np.mean(np.abs(mean - truth(grid[:, 0])) <= 2 * sd)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.fill_between(grid[:, 0], mean - 2 * sd, mean + 2 * sd, alpha=0.2)
axes.plot(grid, mean, label="posterior mean")
axes.plot(grid, truth(grid[:, 0]), "k:", label="truth")
axes.plot(x, y, "k.")
axes.set(title=f"The band covers the truth on {inside:.0%} of the interval")
axes.legend()
plt.show()
