"""
Gaussian kernel: what does gamma do to a classifier?
====================================================

The same data and penalty with three widths of the kernel: too smooth, reasonable, and one island per row.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import SVC

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 160)
y = np.repeat([0, 1], 80)
X = (
    np.c_[np.cos(angle), np.sin(angle)] * np.where(y, -1, 1)[:, None]
    + np.outer(y, [1.0, 0.5])
    + 0.15 * rng.standard_normal((160, 2))
)
a, b = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-1.1, 1.6, 120))
figure, panels = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for axes, gamma in zip(panels, (0.05, 2.0, 100.0), strict=True):
    model = SVC(C=10, gamma=gamma).fit(X, y)
    scores = model.decision_function(np.c_[a.ravel(), b.ravel()]).reshape(a.shape)
    axes.contourf(a, b, scores, levels=[-np.inf, 0, np.inf], colors=["#cfe2f3", "#f9d9c4"])
    axes.plot(*X[y == 0].T, ".", color="#0072B2")
    axes.plot(*X[y == 1].T, ".", color="#D55E00")
    axes.set(title=f"gamma {gamma}: {len(model.support_)} support vectors")
plt.show()
