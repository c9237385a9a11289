"""Calibration of logistic regression and of a forest."""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

X, y = make_classification(300, 6, random_state=0)
forest = CalibratedClassifierCV(RandomForestClassifier(10, random_state=0), method="isotonic", cv=2).fit(
    X[:200], y[:200]
)
for model in (LogisticRegression().fit(X[:200], y[:200]), forest):
    CalibrationDisplay.from_estimator(model, X[200:], y[200:], n_bins=5)
    plt.close("all")
    assert model.score(X[200:], y[200:]) > 0.8
