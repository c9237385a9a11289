"""Predictions of left-out rows, drawn against the targets."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import PredictionErrorDisplay
from sklearn.model_selection import cross_val_predict, cross_validate

X, y = load_diabetes(return_X_y=True)
predicted = cross_val_predict(LinearRegression(), X, y, cv=5)
PredictionErrorDisplay.from_predictions(y, y_pred=predicted, kind="residual_vs_predicted")
plt.close("all")
scores = cross_validate(LinearRegression(), X, y, scoring=("r2", "neg_mean_squared_error"))
assert scores["test_r2"].mean() > 0.4
