"""Nearest neighbors with uniform and distance weights."""

from sklearn import neighbors
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
for weights in ("uniform", "distance"):
    model = neighbors.KNeighborsClassifier(11, weights=weights).fit(X[::2, :2], y[::2])
    print(weights, model.score(X[1::2, :2], y[1::2]))
    assert model.score(X[1::2, :2], y[1::2]) > 0.7
assert neighbors.KNeighborsRegressor(3).fit(X, y).predict(X).shape == (150,)
