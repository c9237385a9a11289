"""
Nyström approximation: how many landmarks are enough?
=====================================================

Kernel ridge regression on landmarks. The error on new rows falls until the landmarks cover the data, and then stays at
the noise level.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import NystroemRidge

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (800, 2))
y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.standard_normal(800)
sizes = [10, 20, 40, 80, 160]
errors = []
for m in sizes:
    model = NystroemRidge(alpha=0.1, gamma=0.5, n_landmarks=m, random_state=0).fit(X[:600], y[:600])
    errors.append(np.mean((model.predict(X[600:]) - y[600:]) ** 2))

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogy(sizes, errors, "o-")
axes.axhline(0.01, ls=":", c="k", label="variance of the noise")
axes.set(xlabel="landmarks", ylabel="mean squared error on 200 rows")
axes.legend()
plt.show()
