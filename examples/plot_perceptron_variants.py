"""
Perceptron variants: voted and averaged on noisy labels
=======================================================

With five percent of wrong labels the plain perceptron never converges. The averaged and the voted perceptron are more stable.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import AveragedPerceptron, Perceptron, VotedPerceptron

rng = np.random.default_rng(0)
X = rng.standard_normal((600, 5))
y = np.where(X @ [1, -1, 0.5, 0, 0] > 0, 1, -1)
y[:400][rng.random(400) < 0.05] *= -1

passes = [1, 2, 3, 5, 8, 12]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for kind in (Perceptron, AveragedPerceptron, VotedPerceptron):
    errors = [
        1 - kind(max_iter=k, tol=None, random_state=0).fit(X[:400], y[:400]).score(X[400:], y[400:]) for k in passes
    ]
    axes.plot(passes, errors, "o-", label=kind.__name__)
axes.set(xlabel="passes over the data", ylabel="error on 200 clean rows")
axes.legend()
plt.show()
