"""
Decision tree: which rules separate the species of iris?
========================================================

A tree of depth two on two measurements, drawn as boxes in the plane.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from surefit import DecisionTreeClassifier, TreeBoxesDisplay

data = load_iris()
X = data.data[:, 2:]
model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, data.target)
print(model.certificate_)

TreeBoxesDisplay.from_estimator(model, X, data.target).plot()
plt.show()
