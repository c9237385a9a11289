"""Votes and stacks of several families."""

from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
models = [("logistic", LogisticRegression()), ("neighbors", KNeighborsClassifier(7)), ("svc", SVC(gamma=0.1))]
assert VotingClassifier(models, voting="hard").fit(X, y).score(X, y) > 0.95
assert StackingClassifier(models[:2], cv=3).fit(X, y).score(X, y) > 0.95
