"""Efficient leave-one-out choice of the ridge penalty."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV

X, y = load_diabetes(return_X_y=True)
model = RidgeCV(alphas=np.logspace(-3, 1, 9), store_cv_results=True).fit(X, y)
print(model.alpha_, model.best_score_)
assert model.cv_results_.shape == (442, 9)
assert -model.cv_results_.mean(axis=0).min() == model.best_score_ or np.isclose(
    -model.cv_results_.mean(axis=0).min(), model.best_score_
)
