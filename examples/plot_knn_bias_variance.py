"""
k-nearest neighbors: how does k trade noise against detail?
===========================================================

One neighbor follows every row; a hundred neighbors follow none. The error on new rows has its minimum in between.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from surefit import KNeighborsClassifier

X, y = load_digits(return_X_y=True)
train, test = slice(0, 900), slice(900, None)
sizes = [1, 2, 3, 5, 9, 17, 33, 65, 129]
errors = [
    [1 - m.score(X[part], y[part]) for part in (train, test)]
    for m in (KNeighborsClassifier(k).fit(X[train], y[train]) for k in sizes)
]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogx(sizes, np.array(errors)[:, 0], "o-", label="training rows")
axes.semilogx(sizes, np.array(errors)[:, 1], "s-", label="test rows")
axes.set(xlabel="neighbors k", ylabel="error", title="Handwritten digits")
axes.legend()
plt.show()
