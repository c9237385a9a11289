"""
Kernels, and what is none
=========================

A kernel says how alike two things are, and has to be an inner product in some space. Pictures of Gram matrices show the width of a
Gaussian kernel at work; a witness shows why some functions are no kernels.
"""

# %%
# Two clouds, sorted by label. Too narrow, and every point is alone; too wide, and all are the same.
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
# The Gaussian kernel is proved to be positive definite on these points, rounding included. The hyperbolic tangent is refuted.
print(check_kernel(RBF(gamma=0.5), X[:30]))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(check_kernel(Sigmoid(), [[1.0], [2.0]]))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    GramDisplay.from_kernel(Sigmoid(), X, y).plot(axes, spectrum=True)

# %%
# Strings are compared by the subsequences they share, gaps allowed at a price.
words = ["cat", "car", "cart", "bat", "bar", "kernel", "colonel"]
figure, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
GramDisplay.from_kernel(StringSubsequence(2), words).plot(ax)
ax.set_xticks(range(len(words)), words, rotation=60)
ax.set_yticks(range(len(words)), words)

# %%
# The minimum of two numbers is the covariance of Brownian motion. Left: paths drawn from it, which are rough. Right: a function of the
# kernel's own space, the smoothest through four points: its norm is the integral of the squared slope.
t = np.linspace(0, 1, 401)[:, None]
points, values = np.array([[0.2], [0.4], [0.6], [0.9]]), np.array([1.0, -1.0, 0.5, 0.0])
f = RKHSFunction.interpolating(Min(), points, values)
print(f, f"integral of the squared slope: {np.sum(np.diff(f(t)) ** 2) / (t[1, 0] - t[0, 0]):.4f}")
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
axes[0].plot(t, draw_functions(Min(), t, 4, random_state=0).T, linewidth=0.9)
axes[1].plot(t, f(t))
axes[1].plot(points, values, "o")
plt.show()
