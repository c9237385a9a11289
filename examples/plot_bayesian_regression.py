"""
Bayesian linear regression: how does the posterior narrow as rows arrive?
=========================================================================

The waiting time until the next eruption of Old Faithful, predicted from the duration of the last one: the posterior mean of the line and
two standard deviations. The band is wide where there are no data, and narrows as rows arrive.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import BayesianLinearRegression
from surefit.data import load_old_faithful

eruptions = load_old_faithful().X
x, y = eruptions[:, :1] - 3.5, (eruptions[:, 1] - 70) / 10  # minutes about 3.5, and tens of minutes about 70
grid = np.linspace(-3, 3, 100)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, n in zip(panels, (3, 30), strict=True):
    model = BayesianLinearRegression(noise_variance=0.36, prior_variance=4.0).fit(x[:n], y[:n])
    mean, sd = model.predict(grid, return_std=True)
    axes.fill_between(grid[:, 0] + 3.5, 70 + 10 * (mean - 2 * sd), 70 + 10 * (mean + 2 * sd), alpha=0.2)
    axes.plot(grid + 3.5, 70 + 10 * mean)
    axes.plot(*eruptions[:n].T, "k.")
    axes.set(title=f"{n} rows", xlabel="eruption (minutes)")
panels[0].set(ylabel="waiting time (minutes)")
plt.show()
