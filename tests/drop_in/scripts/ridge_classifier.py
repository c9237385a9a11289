"""Ridge regression of signs as a classifier."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier

X, y = load_breast_cancer(return_X_y=True)
model = RidgeClassifier().fit(X, y)
assert model.score(X, y) > 0.94 and model.decision_function(X).shape == (569,)
