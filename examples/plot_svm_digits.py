"""
Support vector machine: which images of 3 and 8 are hard to distinguish?
========================================================================

A support vector machine with a Gaussian kernel separates two digits. The support vectors with the largest weights are
the hard cases.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from surefit import SVC

data = load_digits()
keep = np.isin(data.target, (3, 8))
X, y = data.data[keep] / 16, data.target[keep]
model = SVC(C=10, gamma=0.05).fit(X, y)
print(model.certificate_)

hard = model.support_[np.argsort(-np.abs(model.dual_coef_[0]))[:10]]
figure, panels = plt.subplots(1, 10, figsize=(9, 1.4), layout="constrained")
for axes, row in zip(panels, hard, strict=True):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axes.set(xticks=[], yticks=[], title=str(y[row]))
plt.show()
