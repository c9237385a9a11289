"""Mixtures of normal distributions compared by BIC."""

import numpy as np
from sklearn.mixture import GaussianMixture

rng = np.random.RandomState(0)
X = np.r_[rng.randn(80, 2) @ [[0.0, -0.1], [1.7, 0.4]], 0.7 * rng.randn(80, 2) + [-6, 3]]
scores = [GaussianMixture(k, random_state=0).fit(X).bic(X) for k in (1, 2, 3)]
assert int(np.argmin(scores)) == 1
