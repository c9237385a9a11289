"""
Decision tree: which pruning has the smallest cost-complexity?
==============================================================

The labels are an exclusive or with noise. No first split reduces the impurity, so early stopping learns nothing, and a full tree learns
the noise. Pruning finds the four boxes, and the certificate proves that no other pruning is better.
"""

# %%
# One label in ten is flipped.
import matplotlib.pyplot as plt
import numpy as np

from surefit import DecisionTreeClassifier, PruningCurveDisplay, TreeBoxesDisplay, TreeDisplay
from surefit.data import make_xor

X, y, _ = make_xor(600, random_state=0)
y = np.where(np.random.default_rng(0).random(600) < 0.1, -y, y)
new, truth, _ = make_xor(5000, random_state=1)

models = {
    "stopped early": DecisionTreeClassifier(min_gain=0.05),
    "grown to the end": DecisionTreeClassifier(),
    "pruned": DecisionTreeClassifier(pruning="cost_complexity"),
}
for name, model in models.items():
    model.fit(X, y)
    print(f"{name}: {model.get_n_leaves()} leaves, error on new rows {1 - model.score(new, truth):.3f}")

# %%
# The boxes of the full and of the pruned tree.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, name in zip(axes, ("grown to the end", "pruned"), strict=True):
    TreeBoxesDisplay.from_estimator(models[name], X, y).plot(ax)
    ax.set_title(name)

# %%
# How the pruning was chosen: the smallest tree within one standard error of the least cross-validated error.
PruningCurveDisplay.from_estimator(models["pruned"]).plot()

# %%
# The pruned tree and its certificate.
TreeDisplay.from_estimator(models["pruned"]).plot()
plt.show()
print(models["pruned"].verify(X, y))
