"""Nested against plain cross-validation."""

from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
inner, outer = KFold(2, shuffle=True, random_state=0), KFold(2, shuffle=True, random_state=1)
search = GridSearchCV(SVC(kernel="rbf"), {"C": [1, 10], "gamma": [0.1]}, cv=inner)
nested = cross_val_score(search, X, y, cv=outer).mean()
print(nested, search.fit(X, y).best_score_)
assert nested > 0.9
