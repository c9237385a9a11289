"""
Quantile regression: does the progress of diabetes spread more at high body mass?
=================================================================================

Three quantile lines on the diabetes data. Where they are farther apart, the target varies more. Each fit minimizes the pinball loss with
a proved gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import QuantileRegressor

data = load_diabetes(scaled=False)
mass, progress = data.data[:, 2], data.target

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(mass, progress, ".", color="0.6")
grid = np.array([[18.0], [42.0]])
for q in (0.1, 0.5, 0.9):
    model = QuantileRegressor(quantile=q, alpha=0.0).fit(mass[:, None], progress)
    below = np.mean(progress <= model.predict(mass[:, None]))
    axes.plot(grid, model.predict(grid), label=f"quantile {q}: {below:.0%} of the rows below")
    assert model.certificate_.holds
axes.set(xlabel="body mass index", ylabel="progress of the disease after one year")
axes.legend()
plt.show()
