"""
Gaussian mixture: which flowers of the iris data belong to two clusters?
========================================================================

Three normal components fitted by EM. The certificate says how close the fit is to a stationary point; it does not claim
a global maximum.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from surefit import GaussianMixture

X = load_iris().data[:, [2, 3]]
model = GaussianMixture(3, random_state=0).fit(X)
print(model.certificate_)

figure, axes = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
axes.scatter(*X.T, c=model.predict_proba(X), s=20)
angle = np.linspace(0, 2 * np.pi, 100)
for mean, cov in zip(model.means_, model.covariances_, strict=True):
    axes.plot(*(mean[:, None] + 2 * np.linalg.cholesky(cov) @ [np.cos(angle), np.sin(angle)]), "k", lw=1)
axes.set(xlabel="petal length", ylabel="petal width", title="Colors are responsibilities")
plt.show()
