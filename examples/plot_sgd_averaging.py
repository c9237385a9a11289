"""
Stochastic gradient descent: why average the iterates?
======================================================

Logistic regression on three measurements of the breast cancer data. With a constant step the iterates keep moving around the minimum. Their
average gets closer to it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from surefit import GradientDescent, StochasticGradientDescent
from surefit.losses import Logistic
from surefit.optimizers import LinearScores

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:, :3]), np.where(y == 1, 1.0, -1.0)
problem = LinearScores(X, y, Logistic(), l2=0.01)
best = GradientDescent().minimize(problem)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the iteration limit is reached on purpose
    for average in (False, True):
        outcome = StochasticGradientDescent(0.5, average=average, max_iter=60, random_state=0).minimize(problem)
        axes.semilogy(outcome.history[:, 1] - best.value, label="average" if average else "last iterate")
axes.set(xlabel="pass", ylabel="distance of the objective from its minimum")
axes.legend()
plt.show()
