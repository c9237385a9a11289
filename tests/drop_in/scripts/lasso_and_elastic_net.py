"""Lasso and elastic net recover a sparse signal."""

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.metrics import r2_score

rng = np.random.RandomState(0)
X = rng.randn(80, 30)
coef = np.zeros(30)
coef[:5] = [3, -2, 1.5, 1, -1]
y = X @ coef + 0.1 * rng.randn(80)
for model in (Lasso(alpha=0.05), ElasticNet(alpha=0.05, l1_ratio=0.7)):
    predicted = model.fit(X[:50], y[:50]).predict(X[50:])
    print(model, r2_score(y[50:], predicted), np.sum(model.coef_ != 0))
    assert r2_score(y[50:], predicted) > 0.95 and np.all(model.coef_[:5] != 0)
