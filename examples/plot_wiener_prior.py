"""
Brownian motion prior: which smoothing spline does it imply?
============================================================

The posterior mean under a Brownian prior is a linear smoothing spline. Both are fitted and drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import SmoothingSpline, WienerProcessRegressor

rng = np.random.default_rng(0)
x = np.arange(1, 41) / 40
y = np.sin(5 * x) + 0.2 * rng.standard_normal(40)
process = WienerProcessRegressor(order=1, variance=20.0, noise=0.04).fit(x, y)
spline = SmoothingSpline(1, lam=0.04 / (40 * 20.0), form="special").fit(x, y)
grid = np.linspace(0, 1, 200)
print(f"largest difference: {np.max(np.abs(process.predict(grid) - spline.predict(grid))):.1e}")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x, y, "k.")
axes.plot(grid, process.predict(grid), lw=4, alpha=0.4, label="posterior mean, Brownian prior")
axes.plot(grid, spline.predict(grid), label="smoothing spline")
axes.legend()
plt.show()
