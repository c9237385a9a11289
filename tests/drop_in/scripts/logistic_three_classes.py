"""Multinomial logistic regression on iris, with probabilities."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

X, y = load_iris(return_X_y=True)
model = LogisticRegression(C=1e3).fit(X[:, :2], y)
P = model.predict_proba(X[:, :2])
assert model.coef_.shape == (3, 2) and np.allclose(P.sum(axis=1), 1) and model.score(X[:, :2], y) > 0.8
