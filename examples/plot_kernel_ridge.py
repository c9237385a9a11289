"""
Kernel ridge regression: which penalty does the leave-one-out error choose?
===========================================================================

One eigendecomposition of the Gram matrix gives the exact leave-one-out error and the effective degrees of freedom for every penalty.
The penalty that minimizes a norm-based bound shrinks far too much.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import KernelRidge, KernelRidgeCV

rng = np.random.default_rng(3)
X = np.sort(rng.uniform(-3, 3, (120, 1)), axis=0)
y = np.sin(2 * X[:, 0]) + 0.4 * X[:, 0] + 0.3 * rng.standard_normal(120)
model = KernelRidgeCV(kernel="rbf", gamma=1.0, fit_intercept=True).fit(X, y)

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(X, y, ".", color="0.6")
grid = np.linspace(-3, 3, 300)[:, None]
for alpha, label in ((model.alpha_, "leave-one-out"), (model.theory_alpha_, "norm bound"), (1e-5, "too small")):
    fit = KernelRidge(alpha, kernel="rbf", gamma=1.0, fit_intercept=True).fit(X, y)
    left.plot(grid, fit.predict(grid), label=f"{label}: {alpha:.2g}")
left.legend()
right.semilogx(model.alphas_, -model.scores_)
right.axvline(model.alpha_, color="0.5")
right.set(xlabel="penalty", ylabel="mean squared leave-one-out error")

# %%
# The claims of the fit, verified again from the data:
model.verify(X, y)
