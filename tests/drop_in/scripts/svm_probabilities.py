"""Calibrated probabilities of a support vector machine."""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.svm import SVC

X, y = make_classification(150, 4, random_state=0)
model = CalibratedClassifierCV(SVC(), ensemble=False, cv=3).fit(X[:100], y[:100])
loss = brier_score_loss(y[100:], model.predict_proba(X[100:])[:, 1])
print(loss)
assert loss < 0.2
