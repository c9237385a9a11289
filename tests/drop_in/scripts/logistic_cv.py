"""Choice of C by stratified folds."""

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegressionCV

X, y = load_iris(return_X_y=True)
model = LogisticRegressionCV(
    Cs=[0.1, 1, 10], cv=3, l1_ratios=(0,), use_legacy_attributes=False, scoring="accuracy", max_iter=1000
).fit(X, y)
print(model.C_, model.score(X, y))
assert model.scores_.shape == (3, 1, 3) and model.score(X, y) > 0.95
