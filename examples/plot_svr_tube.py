"""
Support vector regression: what does epsilon do?
================================================

Rows inside the tube have no effect. A wider tube leaves fewer support vectors and a flatter curve.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import SVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 80))[:, None]
y = np.sin(x[:, 0]) + 0.2 * rng.standard_normal(80)
grid = np.linspace(0, 6, 200)[:, None]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axes, epsilon in zip(panels, (0.02, 0.2, 0.6), strict=True):
    model = SVR(C=10, gamma=0.5, epsilon=epsilon).fit(x, y)
    f = model.predict(grid)
    axes.fill_between(grid[:, 0], f - epsilon, f + epsilon, alpha=0.2)
    axes.plot(grid, f)
    axes.plot(x, y, ".", color="0.7")
    axes.plot(x[model.support_], y[model.support_], "k.")
    axes.set(title=f"epsilon {epsilon}: {len(model.support_)} support vectors")
plt.show()
