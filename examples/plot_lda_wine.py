"""
Linear discriminant analysis: do two directions separate three cultivars of wine?
=================================================================================

Two directions separate three cultivars described by thirteen measurements.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from surefit import LinearDiscriminantAnalysis

data = load_wine()
model = LinearDiscriminantAnalysis().fit(data.data, data.target)
Z = model.transform(data.data)
print(model.certificate_)

figure, axes = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
for k, name in enumerate(data.target_names):
    axes.plot(*Z[data.target == k, :2].T, "ox^"[k], ms=5, label=name)
axes.set(xlabel="first direction", ylabel="second direction")
axes.legend()
plt.show()
