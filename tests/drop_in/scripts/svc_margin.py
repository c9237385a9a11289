"""The separating plane of largest margin and its support vectors."""

import numpy as np
from sklearn.svm import SVC

rng = np.random.RandomState(0)
X = np.r_[rng.randn(20, 2) - [2, 2], rng.randn(20, 2) + [2, 2]]
y = [0] * 20 + [1] * 20
model = SVC(kernel="linear", C=1e3).fit(X, y)
scores = model.decision_function(model.support_vectors_)
assert np.all(np.abs(scores) < 1.01) and model.coef_.shape == (1, 2)
