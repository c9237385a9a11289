"""A small network on moons."""

from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier, MLPRegressor

X, y = make_moons(100, noise=0.1, random_state=0)
model = MLPClassifier(hidden_layer_sizes=(10,), solver="lbfgs", max_iter=300, random_state=1).fit(X, y)
assert model.score(X, y) > 0.85 and [w.shape for w in model.coefs_] == [(2, 10), (10, 1)]
assert (
    MLPRegressor(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=200, random_state=1)
    .fit(X, X[:, 0])
    .score(X, X[:, 0])
    > 0.85
)
