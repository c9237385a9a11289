"""
Least squares: which coefficients of the diabetes data differ from zero?
========================================================================

Coefficients with confidence intervals. The standard errors assume independent noise with constant variance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import LinearRegression

data = load_diabetes()
model = LinearRegression().fit(data.data, data.target)
table = model.inference(data.data, data.target)
print(table)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.hlines(np.arange(10), table.low[1:], table.high[1:])  # the intercept comes first
axes.plot(table.estimates[1:], np.arange(10), "o")
axes.axvline(0, color="k", lw=0.8)
axes.set(yticks=np.arange(10), yticklabels=data.feature_names, xlabel="coefficient with 95 % interval")
plt.show()
