"""
Quadratic discriminant analysis: when are curved boundaries better?
===================================================================

Benign and malignant tumors: two measurements whose spread differs between the classes. The quadratic rule estimates one covariance per
class and has a curved boundary; the linear rule shares one covariance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from surefit import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

data = load_breast_cancer()
X, y = data.data[:, [6, 13]], data.target  # mean concavity, standard error of the area
X[:, 1] = np.log(X[:, 1])
a, b = np.meshgrid(np.linspace(-0.02, 0.45, 200), np.linspace(1.5, 6.5, 200))
figure, axes = plt.subplots(figsize=(6, 4.8), layout="constrained")
axes.plot(*X[y == 0].T, "o", ms=3)
axes.plot(*X[y == 1].T, "x", ms=4)
for model, color in ((LinearDiscriminantAnalysis(), "0.5"), (QuadraticDiscriminantAnalysis(), "k")):
    model.fit(X, y)
    shown = model.predict_proba(np.c_[a.ravel(), b.ravel()])[:, 1].reshape(a.shape)
    axes.contour(a, b, shown, levels=[0.5], colors=color)
    print(f"{type(model).__name__}: training accuracy {model.score(X, y):.3f}")
axes.set(
    title="Gray: linear rule, black: quadratic rule",
    xlabel="mean concavity",
    ylabel="logarithm of the standard error of the area",
)
plt.show()
