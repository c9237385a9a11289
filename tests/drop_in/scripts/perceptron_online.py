"""The perceptron on separable points."""

from sklearn.datasets import make_blobs
from sklearn.linear_model import Perceptron

X, y = make_blobs(60, centers=[[-3, 0], [3, 0]], cluster_std=0.5, random_state=0)
model = Perceptron(random_state=0).fit(X, y)
assert model.score(X, y) == 1.0 and model.coef_.shape == (1, 2)
