"""
Kernel logistic regression: how close are its probabilities to the truth?
=========================================================================

Unlike a support vector machine, kernel logistic regression estimates probabilities directly.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import KernelLogisticRegression

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (250, 2))
p = 1 / (1 + np.exp(-4 * (1.2 - np.linalg.norm(X, axis=1))))
y = (rng.random(250) < p).astype(int)
model = KernelLogisticRegression(C=1.0, gamma=0.7).fit(X, y)

a, b = np.meshgrid(np.linspace(-2, 2, 120), np.linspace(-2, 2, 120))
grid = np.c_[a.ravel(), b.ravel()]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
truth = 1 / (1 + np.exp(-4 * (1.2 - np.linalg.norm(grid, axis=1))))
for axes, values, name in (
    (panels[0], truth, "true probability"),
    (panels[1], model.predict_proba(grid)[:, 1], "estimate"),
):
    shown = axes.contourf(a, b, values.reshape(a.shape), levels=np.linspace(0, 1, 11), cmap="RdBu")
    axes.set(title=name, aspect="equal")
figure.colorbar(shown, ax=panels)
plt.show()
