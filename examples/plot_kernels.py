"""
Kernels: which functions are positive semidefinite?
===================================================

A kernel measures similarity and must be an inner product in some space. Images of Gram matrices show the effect of the width of a
Gaussian kernel. A witness proves that the hyperbolic tangent is not a kernel on these points.
"""

# %%
# Two groups of points, sorted by label. If the kernel is too narrow, every point is similar only to itself; if it is too wide, all
# points are similar.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from surefit import GramDisplay, RKHSFunction, check_kernel
from surefit.data import make_two_gaussians
from surefit.kernels import RBF, Min, Sigmoid, StringSubsequence, draw_functions

X, y, _ = make_two_gaussians(random_state=1)
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, gamma in zip(axes, (100.0, 0.5, 0.001), strict=True):
    GramDisplay.from_kernel(RBF(gamma=gamma), X, y).plot(ax)
    ax.set_title(f"gamma = {gamma:g}")

# %%
# The Gaussian kernel is proved to be positive definite on these points, with rounding errors accounted for. The hyperbolic tangent is
# proved to be indefinite.
print(check_kernel(RBF(gamma=0.5), X[:30]))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(check_kernel(Sigmoid(), [[1.0], [2.0]]))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    GramDisplay.from_kernel(Sigmoid(), X, y).plot(axes, spectrum=True)

# %%
# Strings are compared by the subsequences that they share; gaps are penalized.
words = ["cat", "car", "cart", "bat", "bar", "kernel", "colonel"]
figure, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
GramDisplay.from_kernel(StringSubsequence(2), words).plot(ax)
ax.set_xticks(range(len(words)), words, rotation=60)
ax.set_yticks(range(len(words)), words)

# %%
# The minimum of two numbers is the covariance of Brownian motion. Left: paths drawn from it, which are rough. Right: a function in the
# reproducing kernel Hilbert space, the smoothest through four points: its squared norm is the integral of the squared derivative.
t = np.linspace(0, 1, 401)[:, None]
points, values = np.array([[0.2], [0.4], [0.6], [0.9]]), np.array([1.0, -1.0, 0.5, 0.0])
f = RKHSFunction.interpolating(Min(), points, values)
print(f, f"integral of the squared slope: {np.sum(np.diff(f(t)) ** 2) / (t[1, 0] - t[0, 0]):.4f}")
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
axes[0].plot(t, draw_functions(Min(), t, 4, random_state=0).T, linewidth=0.9)
axes[1].plot(t, f(t))
axes[1].plot(points, values, "o")
plt.show()
