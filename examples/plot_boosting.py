"""
AdaBoost with decision stumps: how good is a vote of weak rules?
================================================================

Ten normally distributed columns; the label says whether a row lies outside a ball. One stump is hardly better than chance. AdaBoost
fits 400 of them, each to the mistakes of those before, and misclassifies one row in eight.
"""

# %%
# The product of the normalizers, which the checker recomputes, bounds the training error. It does not bound the test error.
import matplotlib.pyplot as plt
import numpy as np

from surefit import AdaBoostClassifier, BoostingCurvesDisplay, DecisionStump, MarginDistributionDisplay
from surefit.data import make_chi2_10

X, y, truth = make_chi2_10(2000, random_state=0)
X_test, y_test, _ = make_chi2_10(10_000, random_state=1)
model = AdaBoostClassifier(n_estimators=400).fit(X, y)
print(model.verify(X, y))
test_error = 1 - model.score(X_test, y_test)
print(f"one stump: {1 - DecisionStump().fit(X, y).score(X_test, y_test):.3f}, 400 stumps: {test_error:.3f}")
assert 0.10 < test_error < 0.14

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
curves = BoostingCurvesDisplay.from_estimator(model, X_test, y_test).plot(axes[0])
axes[0].axhline(truth["best_stump_error"], color="0.6", linewidth=1)
MarginDistributionDisplay.from_estimator(model, X, y, rounds=(5, 50, 400)).plot(axes[1])

# %%
# The score is a sum of functions of one column each. Each of them approximates a parabola.
figure, axes = plt.subplots(2, 5, figsize=(11, 4), sharex=True, sharey=True, layout="constrained")
grid = np.linspace(-3, 3, 241)
for j, ax in enumerate(axes.ravel()):
    at = model.stump_features_ == j
    above = grid[:, None] > model.stump_thresholds_[at]
    signs = 2 * model.stump_labels_[at, 1] - 1
    part = np.where(above, signs, -signs) @ model.estimator_weights_[at]
    ax.plot(grid, part - part.mean())
    ax.set_title(f"column {j}", fontsize=9)
