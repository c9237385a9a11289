"""
Quantile regression: how does the spread grow with the income?
==============================================================

Three quantile lines on data whose noise grows with the feature. Each fit minimizes the pinball loss with a proved gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import QuantileRegressor

rng = np.random.default_rng(0)
income = rng.uniform(1, 10, 300)
spending = 0.5 + 0.5 * income + 0.15 * income * rng.standard_normal(300)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(income, spending, ".", color="0.6")
grid = np.array([[1.0], [10.0]])
for q in (0.1, 0.5, 0.9):
    model = QuantileRegressor(quantile=q, alpha=0.0).fit(income[:, None], spending)
    below = np.mean(spending <= model.predict(income[:, None]))
    axes.plot(grid, model.predict(grid), label=f"quantile {q}: {below:.0%} of the rows below")
    assert model.certificate_.holds
axes.set(xlabel="income", ylabel="spending")
axes.legend()
plt.show()
