"""
Averaged and voted perceptrons: do they cope with wrong labels?
===============================================================

Five percent of the training labels of the breast cancer data are flipped, so the plain perceptron never converges. The
averaged and the voted perceptron are more stable.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from surefit import AveragedPerceptron, Perceptron, VotedPerceptron

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X), 2 * y - 1
y[:400][np.random.default_rng(0).random(400) < 0.05] *= -1  # wrong labels in the training part

passes = [1, 2, 3, 5, 8, 12]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for kind in (Perceptron, AveragedPerceptron, VotedPerceptron):
    errors = [
        1 - kind(max_iter=k, tol=None, random_state=0).fit(X[:400], y[:400]).score(X[400:], y[400:]) for k in passes
    ]
    axes.plot(passes, errors, "o-", label=kind.__name__)
axes.set(xlabel="passes over the data", ylabel="error on 169 clean rows")
axes.legend()
plt.show()
