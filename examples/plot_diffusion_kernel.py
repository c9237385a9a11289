"""
Diffusion kernel: how do labels spread along a graph?
=====================================================

Ridge regression on the nodes of a ring with two chords, from three labeled nodes.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import KernelRidge
from surefit.kernels import Diffusion

n = 24
adjacency = np.zeros((n, n))
for a, b in [*((k, (k + 1) % n) for k in range(n)), (0, 6), (12, 18)]:
    adjacency[a, b] = adjacency[b, a] = 1
laplacian = adjacency - np.diag(adjacency.sum(axis=0))  # minus the graph Laplacian
kernel = Diffusion(laplacian, strength=3.0)
labeled, values = np.array([2, 10, 17]), [1.0, -1.0, 0.5]
model = KernelRidge(alpha=1e-3, kernel=kernel).fit(labeled[:, None], values)

angle = 2 * np.pi * np.arange(n) / n
x, y = np.cos(angle), np.sin(angle)
figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
for a, b in zip(*np.nonzero(np.triu(adjacency)), strict=True):
    axes.plot(x[[a, b]], y[[a, b]], color="0.8", zorder=0)
shown = axes.scatter(
    x, y, c=model.predict(np.arange(n)[:, None]), cmap="RdBu", vmin=-1, vmax=1, s=120, edgecolors="0.5"
)
axes.scatter(x[labeled], y[labeled], s=260, facecolors="none", edgecolors="k", label="labeled")
figure.colorbar(shown)
axes.set(xticks=[], yticks=[], aspect="equal", title="Predictions on the nodes of a graph")
axes.legend()
plt.show()
