"""
Ridge regression: which penalty does the one-standard-error rule choose?
========================================================================

The penalty with the smallest error, and the largest penalty within one standard error of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import Ridge, cross_validate

X, y = load_diabetes(return_X_y=True)
alphas = np.geomspace(10, 1e-4, 12)  # the simplest model first
result = cross_validate(
    {f"{a:.2g}": Ridge(a) for a in alphas},
    X,
    y,
    cv=10,
    random_state=0,
    assume=("fixed_scaling",),
    loss="squared",
    y_range=(0.0, 400.0),
)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.errorbar(alphas, result.means, yerr=result.standard_errors, fmt="o-", capsize=3)
axes.set(
    xscale="log",
    xlabel="penalty alpha",
    ylabel="cross-validated squared error",
    title=f"chosen: alpha = {result.chosen}",
)
plt.show()
