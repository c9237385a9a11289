"""
Regressogram: choosing the width of the bins
============================================

A histogram of regression: the mean of the targets in each bin. Narrow bins are noisy, wide bins are biased.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import Regressogram

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 1, 200))[:, None]
y = np.sin(6 * x[:, 0]) + 0.3 * rng.standard_normal(200)
grid = np.linspace(0, 0.999, 500)[:, None]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axes, side in zip(panels, (0.01, 0.08, 0.5), strict=True):
    model = Regressogram(side=side).fit(x, y)
    axes.plot(x, y, ".", color="0.8")
    axes.plot(grid, np.sin(6 * grid), "k:")
    axes.plot(grid, model.predict(grid))
    axes.set(title=f"bins of width {side}")
plt.show()
