r"""
Fisher's linear discriminant: can it fail on separable classes?
===============================================================

A line separates the two triangles. Fisher's direction maximizes Fisher's criterion, with proof, and still puts a third of the corners
on the wrong side: the classes overlap along that direction, however many rows are drawn from the six corners.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import FisherDiscriminant, FisherDisplay, LinearSVC
from surefit.data import make_two_triangles

X, y, truth = make_two_triangles(epsilon=0.2)
fisher = FisherDiscriminant().fit(X, y)
machine = LinearSVC(C=1e3).fit(X, y)
print(fisher.certificate_)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for label, color in ((-1, "#c0392b"), (1, "#1f6fb2")):
    corners = X[y == label]
    left.fill(*corners.T, color=color, alpha=0.2)
    left.scatter(*corners.T, color=color, zorder=3)
reach = np.array([-2.2, 2.2])
left.axvline(0.0, color="#1f2933", label="Fisher's rule: 2 errors")
w, b = machine.coef_[0], machine.intercept_[0]
left.plot(-(w[1] * reach + b) / w[0], reach, color="#2f8f5b", linestyle="--", label="support vector machine: none")
left.set(xlim=reach, ylim=(-1.6, 1.6), aspect="equal")
left.legend(loc="upper left", frameon=False)
FisherDisplay.from_estimator(fisher, X, y).plot(right, bins=12)
plt.show()
