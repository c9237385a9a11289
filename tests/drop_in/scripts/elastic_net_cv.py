"""Elastic net with two shares of the l1 norm compared."""

from sklearn.datasets import make_regression
from sklearn.linear_model import ElasticNetCV

X, y = make_regression(60, 10, n_informative=4, noise=3, random_state=0)
model = ElasticNetCV(l1_ratio=[0.5, 0.9], alphas=10, cv=3).fit(X, y)
print(model.alpha_, model.l1_ratio_, model.score(X, y))
assert model.l1_ratio_ in (0.5, 0.9) and model.score(X, y) > 0.9
