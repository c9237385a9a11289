"""
Support vector machines with a proved gap
=========================================

A classifier with a curved boundary, a regression with a tube, and every price of slack at once: each with the number that says how
far from the optimum it can be.
"""

# %%
# Two classes that no line separates. The boundary is where the score is zero, the dashed lines where it is one; ringed rows carry
# the classifier, crossed ones are on the wrong side.
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
# An independent checker computes the kernel anew, with all rounding accounted for.
print(model.verify(X, y))

# %%
# The price of slack. Each classifier serves up to the next mark, and between them the gap is proved as well: at every C it stays below
# the dashed line.
path = svc_path(X, y, C_range=(0.05, 50.0), eps=0.02, gamma=0.5)
SVCPathDisplay(path).plot()
print(f"{len(path.Cs)} classifiers, support rows from {path.n_support.max()} down to {path.n_support.min()}")

# %%
# A regression. Rows inside the tube cost nothing and do not matter; those outside pull with the same force, however far they are.
x = np.sort(rng.uniform(0, 6, 80))
target = np.sin(x) + 0.2 * rng.standard_normal(80)
tube = SVR(C=5.0, epsilon=0.25, gamma=0.7).fit(x[:, None], target)
TubeDisplay.from_estimator(tube, x[:, None], target).plot()
print(f"gap {tube.dual_gap_:.2g} of {tube.objective_:.4g}; offsets from {tube.intercept_interval_[0]}")
plt.show()
