"""Successive halving over the parameters of a support vector machine."""

from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV
from sklearn.svm import SVC

X, y = make_classification(120, 4, random_state=0)
search = HalvingGridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}, factor=3, cv=2, random_state=0).fit(X, y)
assert search.best_score_ > 0.7
