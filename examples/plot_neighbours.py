"""
Neighbours and cells
====================

Two rules without a model, on a law whose best rule is known: what they look like, and how far they are from the best one as the
sample grows.
"""

# %%
# The probability of label 1 has two humps; the best rule says 1 where it exceeds one half.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from surefit import HistogramClassifier, KNeighborsClassifier, consistency_study
from surefit.partitions.consistency import UniformLaw

law = UniformLaw(lambda X: 0.5 + 0.45 * np.sin(7 * X[:, 0]) * np.cos(5 * X[:, 1]), d=2)
X, y = law.sample(400, np.random.default_rng(0))

# %%
# One neighbour copies the noise; many smooth it away, and in the end everything else too. Cubes of a grid do the same with their side.
rules = {
    "1 neighbour": KNeighborsClassifier(1),
    "15 neighbours": KNeighborsClassifier(15),
    "150 neighbours": KNeighborsClassifier(150),
    "cubes of side 0.03": HistogramClassifier(0.03),
    "cubes of side 0.12": HistogramClassifier(0.12),
    "cubes of side 0.5": HistogramClassifier(0.5),
}
points, _ = law.sample(20_000, np.random.default_rng(1))
figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
for ax, (name, rule) in zip(axes.flat, rules.items(), strict=True):
    rule.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        rule, X, response_method="predict", ax=ax, alpha=0.4, grid_resolution=150, eps=0.0
    )
    ax.scatter(X[:, 0], X[:, 1], c=y, s=6)
    risk, best = law.risks(rule.predict(points), points)
    ax.set(title=f"{name}: risk {risk:.3f}", xticks=[], yticks=[], xlabel="", ylabel="")
figure.suptitle(f"The best rule has risk {best:.3f}")

# %%
# With sides that shrink, but not too fast, and counts of neighbours that grow, but not too fast, both approach the best rule.
sizes = [50, 200, 800, 3200]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, learner in {
    "cubes of side n^(-1/4)": lambda n: HistogramClassifier(n ** (-1 / 4)),
    "n^(1/2) neighbours": lambda n: KNeighborsClassifier(int(n**0.5)),
    "1 neighbour": lambda n: KNeighborsClassifier(1),
}.items():
    study = consistency_study(learner, law, sizes, repeats=4, test_size=4000)
    ax.loglog(sizes, study.mean_excess, "o-", label=name)
ax.set(xlabel="training rows", ylabel="risk above the best")
ax.legend()
plt.show()
