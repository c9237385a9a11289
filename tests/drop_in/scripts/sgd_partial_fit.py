"""Learning from batches."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier, SGDRegressor

X, y = make_classification(300, 5, random_state=0)
model = SGDClassifier(random_state=0, average=True)
for start in 5 * list(range(0, 300, 50)):
    model.partial_fit(X[start : start + 50], y[start : start + 50], classes=np.unique(y))
assert model.score(X, y) > 0.8
assert SGDRegressor(random_state=0).partial_fit(X, X[:, 0]).coef_.shape == (5,)
