"""
k-nearest neighbors and histogram rules: how close are they to the Bayes rule?
==============================================================================

Two nonparametric classifiers on a distribution whose Bayes rule is known: their decisions, and their excess risk as the sample grows.
"""

# %%
# The conditional probability of label 1 has two modes; the Bayes rule predicts 1 where it exceeds one half.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from surefit import HistogramClassifier, KNeighborsClassifier, LabelModel, UniformDistribution, consistency_study

distribution = LabelModel(lambda X: 0.5 + 0.45 * np.sin(7 * X[:, 0]) * np.cos(5 * X[:, 1]), UniformDistribution(d=2))
X, y = distribution.sample(400, 0)

# %%
# One neighbor fits the noise; too many neighbors smooth out the signal as well. The width of the cells has the same effect.
rules = {
    "1 neighbor": KNeighborsClassifier(1),
    "15 neighbors": KNeighborsClassifier(15),
    "150 neighbors": KNeighborsClassifier(150),
    "cubes of side 0.03": HistogramClassifier(0.03),
    "cubes of side 0.12": HistogramClassifier(0.12),
    "cubes of side 0.5": HistogramClassifier(0.5),
}
figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
for ax, (name, rule) in zip(axes.flat, rules.items(), strict=True):
    rule.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        rule, X, response_method="predict", ax=ax, alpha=0.4, grid_resolution=150, eps=0.0
    )
    ax.scatter(X[:, 0], X[:, 1], c=y, s=6)
    risk, best = distribution.risk(rule.predict, draws=20_000).value, distribution.bayes_risk(draws=20_000).value
    ax.set(title=f"{name}: risk {risk:.3f}", xticks=[], yticks=[], xlabel="", ylabel="")
figure.suptitle(f"The best rule has risk {best:.3f}")

# %%
# Both rules approach the Bayes rule if the cells shrink and the number of neighbors grows, and neither too fast.
sizes = [50, 200, 800, 3200]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, learner in {
    "cubes of side n^(-1/4)": lambda n: HistogramClassifier(n ** (-1 / 4)),
    "n^(1/2) neighbors": lambda n: KNeighborsClassifier(int(n**0.5)),
    "1 neighbor": lambda n: KNeighborsClassifier(1),
}.items():
    study = consistency_study(learner, distribution, sizes, repeats=4, test_size=4000)
    ax.loglog(sizes, study.mean_excess, "o-", label=name)
ax.set(xlabel="training rows", ylabel="risk above the best")
ax.legend()
plt.show()
