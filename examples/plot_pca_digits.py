"""
PCA: how many components do handwritten digits need?
====================================================

The variance captured by the first components, with a proved bound on what any other directions could capture.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from surefit import PCA

X = load_digits().data
model = PCA(30).fit(X)
print(model.certificate_)

captured = np.cumsum(model.explained_variance_ratio_)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(np.arange(1, 31), captured, "o-")
left.axhline(0.9, ls=":", c="k")
left.set(xlabel="components", ylabel="share of the variance")
right.imshow(
    np.vstack([np.hstack([c.reshape(8, 8) for c in model.components_[4 * r : 4 * r + 4]]) for r in range(2)]),
    cmap="RdBu",
)
right.set(title="the first eight components", xticks=[], yticks=[])
plt.show()
