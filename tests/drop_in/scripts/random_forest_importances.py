"""Importances of columns by a forest and by permutation."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance

X, y = make_classification(150, 6, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
forest = RandomForestClassifier(20, random_state=0).fit(X, y)
found = permutation_importance(forest, X, y, n_repeats=3, random_state=0)
assert set(np.argsort(forest.feature_importances_)[-2:]) == {0, 1} == set(np.argsort(found.importances_mean)[-2:])
