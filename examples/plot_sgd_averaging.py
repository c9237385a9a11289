"""
Stochastic gradient descent: why average the iterates?
======================================================

With a constant step the iterates keep moving around the minimum. Their average converges.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from surefit import GradientDescent, StochasticGradientDescent
from surefit.losses import Logistic
from surefit.optimizers import LinearScores

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 3))
y = np.where(X @ [1.0, -1.0, 0.5] + 0.8 * rng.standard_normal(200) > 0, 1.0, -1.0)
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
