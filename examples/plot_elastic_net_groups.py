"""
Elastic net: what happens to two nearly equal features?
=======================================================

The lasso picks one of two nearly equal columns. The elastic net shares the coefficient between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import ElasticNet

rng = np.random.default_rng(0)
x = rng.standard_normal(100)
X = np.c_[x, x + 0.01 * rng.standard_normal(100), rng.standard_normal((100, 3))]
y = 2 * x + 0.3 * rng.standard_normal(100)

ratios = np.linspace(0.05, 1.0, 20)
coefs = np.array([ElasticNet(alpha=0.1, l1_ratio=r).fit(X, y).coef_ for r in ratios])

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(ratios, coefs[:, 0], "o-", label="first copy")
axes.plot(ratios, coefs[:, 1], "s-", label="second copy")
axes.set(
    xlabel="l1_ratio: 1 is the lasso", ylabel="coefficient", title="Shared on the left, one of the two on the right"
)
axes.legend()
plt.show()
