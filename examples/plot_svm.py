"""
Support vector machines: how close are classifier, path and regression to the optimum?
======================================================================================

A classifier with a Gaussian kernel, the whole path of classifiers in ``C``, and a regression with the epsilon-insensitive loss. Each fit
states how far from the optimum it can be.
"""

# %%
# Two classes that no line separates. The score is zero on the boundary and one in absolute value on the dashed lines.
# Rings mark support vectors, and crosses mark misclassified rows.
import matplotlib.pyplot as plt
import numpy as np

from surefit import SVC, SVR, SVCDisplay, SVCPathDisplay, TubeDisplay, svc_path

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.25 * rng.standard_normal(150) > 0, 1, -1)
model = SVC(gamma=0.5, C=2.0, tol=1e-6).fit(X, y)
SVCDisplay.from_estimator(model, X, y).plot()
print(model.certificate_)

# %%
# The independent checker computes the kernel again, with all rounding errors accounted for.
print(model.verify(X, y))

# %%
# The path in ``C``. Each classifier is used up to the next mark, and the gap is proved between the marks as well: at every ``C`` it is
# below the dashed line.
path = svc_path(X, y, C_range=(0.05, 50.0), eps=0.02, gamma=0.5)
SVCPathDisplay(path).plot()
print(f"{len(path.Cs)} classifiers, support rows from {path.n_support.max()} down to {path.n_support.min()}")

# %%
# Support vector regression. Rows inside the epsilon-insensitive tube have no loss and no influence; the influence of the others is bounded.
x = np.sort(rng.uniform(0, 6, 80))
target = np.sin(x) + 0.2 * rng.standard_normal(80)
tube = SVR(C=5.0, epsilon=0.25, gamma=0.7).fit(x[:, None], target)
TubeDisplay.from_estimator(tube, x[:, None], target).plot()
print(f"gap {tube.dual_gap_:.2g} of {tube.objective_:.4g}; offsets from {tube.intercept_interval_[0]}")
plt.show()
