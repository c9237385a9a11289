"""
Lasso: which measurements predict the progress of diabetes?
===========================================================

The path of the lasso on the diabetes data. Features enter one after the other as the penalty falls, and every fit has a proved gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import lasso_path

data = load_diabetes()
alphas, coefs, gaps = lasso_path(data.data, data.target - data.target.mean(), alphas=np.geomspace(2.0, 0.002, 60))
print(f"largest gap on the path: {np.max(gaps):.1e}")

figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
for name, line in zip(data.feature_names, np.atleast_2d(coefs), strict=True):
    axes.semilogx(alphas, line, label=name)
axes.set(xlabel="penalty alpha", ylabel="coefficient", title="The body mass index enters first")
axes.invert_xaxis()
axes.legend(ncols=2)
plt.show()
