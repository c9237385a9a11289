"""Stochastic gradient descent with sample weights."""

import numpy as np
from sklearn.linear_model import SGDClassifier

rng = np.random.RandomState(0)
X = np.r_[rng.randn(10, 2) + [1, 1], rng.randn(10, 2)]
y = [1] * 10 + [-1] * 10
weight = 100 * np.abs(rng.randn(20))
plain = SGDClassifier(alpha=0.01, max_iter=100, random_state=0).fit(X, y)
weighted = SGDClassifier(alpha=0.01, max_iter=100, random_state=0).fit(X, y, sample_weight=weight)
assert plain.coef_.shape == (1, 2) and not np.allclose(plain.coef_, weighted.coef_)
