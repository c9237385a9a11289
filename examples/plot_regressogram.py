"""
Regressogram: how wide should the bins be?
==========================================

The waiting time until the next eruption of Old Faithful, predicted by the mean of the targets in each bin. Narrow bins are noisy, wide bins
are biased.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import Regressogram
from surefit.data import load_old_faithful

eruptions = load_old_faithful().X
x, y = eruptions[:, :1], eruptions[:, 1]
grid = np.linspace(1.6, 5.1, 500)[:, None]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axes, side in zip(panels, (0.05, 0.4, 2.0), strict=True):
    model = Regressogram(side=side).fit(x, y)
    axes.plot(x, y, ".", color="0.8")
    axes.plot(grid, model.predict(grid))
    axes.set(title=f"bins of width {side} minutes", xlabel="eruption (minutes)")
panels[0].set(ylabel="waiting time (minutes)")
plt.show()
