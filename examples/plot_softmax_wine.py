"""
Multinomial logistic regression: where is the cultivar of a wine uncertain?
===========================================================================

Class probabilities of three cultivars in the plane of two measurements.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from surefit import LogisticRegression

data = load_wine()
X = StandardScaler().fit_transform(data.data[:, [9, 12]])  # color intensity and proline
model = LogisticRegression(C=10).fit(X, data.target)

a, b = np.meshgrid(np.linspace(-2.5, 3.5, 150), np.linspace(-2, 3.2, 150))
share = model.predict_proba(np.c_[a.ravel(), b.ravel()]).reshape(*a.shape, 3)
figure, axes = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
axes.imshow(share, origin="lower", extent=(-2.5, 3.5, -2, 3.2), aspect="auto", alpha=0.5)
axes.scatter(*X.T, c=np.eye(3)[data.target], edgecolors="k", s=24)
axes.set(xlabel="color intensity", ylabel="proline", title="Colors mix the three class probabilities")
plt.show()
