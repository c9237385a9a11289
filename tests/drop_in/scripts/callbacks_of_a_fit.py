"""Callbacks follow an iterative fit."""

import numpy as np
from sklearn.callback import ProgressBar
from sklearn.linear_model import LogisticRegression

rng = np.random.RandomState(0)
X = rng.randn(50, 3)
model = LogisticRegression().set_callbacks(ProgressBar())
assert model.fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9
