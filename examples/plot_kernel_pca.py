"""
Kernel PCA: can one component separate two circles?
===================================================

Two concentric circles overlap in every linear projection. In the space of a Gaussian kernel one component separates them.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import PCA, KernelPCA

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 100)
angle = rng.uniform(0, 2 * np.pi, 200)
X = (np.where(y, 0.4, 1.0) + 0.05 * rng.standard_normal(200))[:, None] * np.c_[np.cos(angle), np.sin(angle)]
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axes, model in zip(panels, (PCA(2), KernelPCA(2, kernel="rbf", gamma=4.0)), strict=True):
    Z = model.fit_transform(X)
    axes.plot(*Z[y == 0].T, "o", ms=4)
    axes.plot(*Z[y == 1].T, "x", ms=5)
    axes.set(title=type(model).__name__, xlabel="first component", ylabel="second component")
plt.show()
