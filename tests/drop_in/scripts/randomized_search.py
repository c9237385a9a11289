"""Randomized search with distributions of parameters."""

from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV

X, y = load_iris(return_X_y=True)
search = RandomizedSearchCV(LogisticRegression(), {"C": loguniform(1e-2, 1e2)}, n_iter=4, random_state=0, cv=3).fit(
    X, y
)
assert len(search.cv_results_["params"]) == 4 and search.score(X, y) > 0.9
