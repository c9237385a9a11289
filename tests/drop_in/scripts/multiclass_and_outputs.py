"""One against the rest, pairs of classes, several outputs."""

from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor
from sklearn.svm import LinearSVC

X, y = load_iris(return_X_y=True)
assert OneVsRestClassifier(LogisticRegression()).fit(X, y).score(X, y) > 0.9
assert OneVsOneClassifier(LinearSVC(random_state=0)).fit(X, y).score(X, y) > 0.9
assert MultiOutputRegressor(LinearRegression()).fit(X[:, :2], X[:, 2:]).predict(X[:, :2]).shape == (150, 2)
Z, labels = make_multilabel_classification(60, n_classes=2, random_state=0)
assert ClassifierChain(LogisticRegression(max_iter=1000)).fit(Z, labels).predict(Z).shape == (60, 2)
