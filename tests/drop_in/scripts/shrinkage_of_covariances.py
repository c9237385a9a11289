"""Shrinkage helps a linear discriminant with many columns."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

X, y = make_blobs(n_samples=220, n_features=1, centers=[[-2], [2]], random_state=0)
X = np.hstack([X, np.random.RandomState(0).randn(220, 30)])
scores = [
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s).fit(X[:20], y[:20]).score(X[20:], y[20:])
    for s in (None, "auto")
]
print(scores)
assert scores[1] > 0.8 and scores[1] >= scores[0]
