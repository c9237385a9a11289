"""
Quadratic discriminant analysis: when are curved boundaries better?
===================================================================

Two Gaussian classes with different covariances. The quadratic rule follows the true boundary, the linear rule cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

rng = np.random.default_rng(0)
X = np.r_[rng.standard_normal((150, 2)) * 0.6, rng.standard_normal((150, 2)) * 2 + [1.0, 0.5]]
y = np.repeat([0, 1], 150)
a, b = np.meshgrid(np.linspace(-5, 6, 200), np.linspace(-5, 6, 200))
figure, axes = plt.subplots(figsize=(6, 4.8), layout="constrained")
axes.plot(*X[y == 0].T, "o", ms=3)
axes.plot(*X[y == 1].T, "x", ms=4)
for model, color in ((LinearDiscriminantAnalysis(), "0.5"), (QuadraticDiscriminantAnalysis(), "k")):
    model.fit(X, y)
    shown = model.predict_proba(np.c_[a.ravel(), b.ravel()])[:, 1].reshape(a.shape)
    axes.contour(a, b, shown, levels=[0.5], colors=color)
    print(f"{type(model).__name__}: training accuracy {model.score(X, y):.3f}")
axes.set(title="Gray: linear rule, black: quadratic rule")
plt.show()
