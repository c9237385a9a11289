"""
Bayesian linear regression: posterior lines after three and thirty rows
=======================================================================

Lines drawn from the posterior. They fan out where there are no data and agree as rows arrive.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import BayesianLinearRegression

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 30)[:, None]
y = 0.5 + 1.5 * x[:, 0] + 0.3 * rng.standard_normal(30)
grid = np.linspace(-2, 2, 100)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, n in zip(panels, (3, 30), strict=True):
    model = BayesianLinearRegression(noise_variance=0.09, prior_variance=4.0).fit(x[:n], y[:n])
    mean, sd = model.predict(grid, return_std=True)
    axes.fill_between(grid[:, 0], mean - 2 * sd, mean + 2 * sd, alpha=0.2)
    axes.plot(grid, mean)
    axes.plot(x[:n], y[:n], "k.")
    axes.set(title=f"{n} rows")
plt.show()
