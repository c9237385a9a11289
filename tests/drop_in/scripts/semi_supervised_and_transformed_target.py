"""Self-training with few labels, and a regression of a transformed target."""

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.semi_supervised import SelfTrainingClassifier

X, y = load_iris(return_X_y=True)
partly = y.copy()
partly[np.random.RandomState(0).rand(150) < 0.6] = -1
assert SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(X, partly).score(X, y) > 0.9
target = np.exp(X[:, 0])
model = TransformedTargetRegressor(RidgeCV(), func=np.log1p, inverse_func=np.expm1).fit(X, target)
assert model.score(X, target) > 0.95
