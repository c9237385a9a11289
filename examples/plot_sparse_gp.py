"""
Sparse Gaussian process: how many inducing points does a sine need?
===================================================================

Inducing points summarize 300 rows. Six inducing points are too few for three periods of a sine; thirty are enough.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from surefit import SparseGaussianProcessRegressor
from surefit.kernels import RBF

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 300))[:, None]
y = np.sin(2 * x[:, 0]) + 0.3 * rng.standard_normal(300)
grid = np.linspace(0, 10, 200)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for axes, m in zip(panels, (6, 30), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseGaussianProcessRegressor(RBF(gamma=2.0), n_inducing=m, alpha=0.09, optimizer=None).fit(x, y)
    axes.plot(x, y, ".", color="0.8")
    axes.plot(grid, model.predict(grid))
    axes.set(title=f"{m} inducing points")
plt.show()
