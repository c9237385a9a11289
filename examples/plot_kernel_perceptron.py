"""
Kernel perceptron: how many mistakes does it make on XOR?
=========================================================

A line cannot separate the XOR pattern. The perceptron with a Gaussian kernel does, and its mistakes are bounded.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import KernelPerceptron
from surefit.data import make_xor

X, y, truth = make_xor(200, random_state=0)
model = KernelPerceptron(kernel="rbf", gamma=4.0).fit(X, y)
print(model.certificate_)

a, b = np.meshgrid(np.linspace(X.min(), X.max(), 150), np.linspace(X.min(), X.max(), 150))
scores = model.decision_function(np.c_[a.ravel(), b.ravel()]).reshape(a.shape)
figure, axes = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
axes.contourf(a, b, scores, levels=[-np.inf, 0, np.inf], colors=["#cfe2f3", "#f9d9c4"])
axes.plot(*X[y == y.max()].T, "o", ms=4)
axes.plot(*X[y == y.min()].T, "x", ms=5)
axes.set(title=f"{model.n_updates_} mistakes during training")
plt.show()
