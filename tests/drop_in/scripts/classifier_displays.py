"""ROC curve, confusion matrix, precision and recall, decision boundary."""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay
from sklearn.svm import SVC

X, y = make_classification(100, 2, n_redundant=0, random_state=0)
for model in (LogisticRegression().fit(X, y), SVC().fit(X, y)):
    assert RocCurveDisplay.from_estimator(model, X, y).roc_auc > 0.9
    ConfusionMatrixDisplay.from_estimator(model, X, y)
    PrecisionRecallDisplay.from_estimator(model, X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, response_method="predict", grid_resolution=10)
    plt.close("all")
