"""
Support vector regression: what does epsilon do?
================================================

The waiting time until the next eruption of Old Faithful, predicted from the duration of the last one. Rows inside the epsilon-insensitive
tube have no effect. A wider tube leaves fewer support vectors and a flatter curve.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import SVR
from surefit.data import load_old_faithful

eruptions = load_old_faithful().X
x, y = eruptions[:, :1], eruptions[:, 1]
grid = np.linspace(1.5, 5.2, 200)[:, None]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axes, epsilon in zip(panels, (1.0, 6.0, 15.0), strict=True):
    model = SVR(C=100, gamma=1.0, epsilon=epsilon).fit(x, y)
    f = model.predict(grid)
    axes.fill_between(grid[:, 0], f - epsilon, f + epsilon, alpha=0.2)
    axes.plot(grid, f)
    axes.plot(x, y, ".", color="0.7")
    axes.plot(x[model.support_], y[model.support_], "k.")
    axes.set(title=f"epsilon {epsilon:g}: {len(model.support_)} support vectors", xlabel="eruption (minutes)")
panels[0].set(ylabel="waiting time (minutes)")
plt.show()
