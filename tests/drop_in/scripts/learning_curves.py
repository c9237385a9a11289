"""Learning and validation curves, drawn."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LearningCurveDisplay, ShuffleSplit, validation_curve

X, y = load_digits(n_class=2, return_X_y=True)
LearningCurveDisplay.from_estimator(
    LogisticRegression(), X, y, cv=ShuffleSplit(2, random_state=0), train_sizes=[0.3, 1.0]
)
plt.close("all")
train, test = validation_curve(LogisticRegression(), X, y, param_name="C", param_range=np.logspace(-4, 0, 3), cv=2)
assert train.shape == test.shape == (3, 2) and test.mean() > 0.95
