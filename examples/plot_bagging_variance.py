"""
Bagging: how much variance does averaging remove?
=================================================

A single deep tree and the average of thirty, each fitted to five samples of the same distribution.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import BaggingRegressor, DecisionTreeRegressor

rng = np.random.default_rng(0)
grid = np.linspace(0, 1, 300)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, make, name in (
    (panels[0], lambda: DecisionTreeRegressor(random_state=0), "one tree"),
    (panels[1], lambda: BaggingRegressor(DecisionTreeRegressor(), 30, random_state=0), "mean of 30 trees"),
):
    for _ in range(5):
        x = rng.random(80)[:, None]
        y = np.sin(6 * x[:, 0]) + 0.4 * rng.standard_normal(80)
        axes.plot(grid, make().fit(x, y).predict(grid), lw=1)
    axes.plot(grid, np.sin(6 * grid), "k", lw=2)
    axes.set(title=name)
plt.show()
