"""
Bayesian inference: what do posterior, Bayes error and evidence show?
=====================================================================

Three figures: a posterior that narrows as observations arrive, the error that no classifier can avoid, and the evidence as a function
of the degree of a polynomial.
"""

# %%
# Prior and posterior of the probability of heads. The posterior does not depend on the order of the tosses.
import matplotlib.pyplot as plt
import numpy as np

from surefit import ClassDistribution, EvidenceSelector, LinearRegression, PolynomialBasis, conjugate

tosses = (np.random.default_rng(1).random(200) < 0.65).astype(int)
grid = np.linspace(0, 1, 400)
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for count in (0, 3, 20, 200):
    posterior = conjugate.BetaBernoulli(2, 2).update(tosses[:count])
    low, high = posterior.interval(0.95)
    ax.plot(grid, posterior.distribution.pdf(grid), label=f"{count} tosses: [{low:.2f}, {high:.2f}]")
ax.axvline(0.65, color="0.6", lw=1)
ax.set(xlabel="probability of heads", ylabel="density")
ax.legend(title="with probability 0.95")

# %%
# Two normal classes on a line. The Bayes rule predicts the class with the higher curve; its error is the area under the lower one.
world = ClassDistribution.gaussian([[0.0], [2.0]], [1.0, 2.5], [0.6, 0.4])
line = np.linspace(-4, 8, 600)
weighted = np.exp(world.log_joint(line))
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(line, weighted)
ax.fill_between(line, weighted.min(axis=1), color="C3", alpha=0.4)
ax.set(xlabel="x", ylabel="prior times density", title=f"no rule errs less often than {world.bayes_risk().value:.4f}")

# %%
# Data from a parabola: the training error decreases with the degree; the evidence has a maximum.
rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (40, 1))
y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 2 + 0.4 * rng.standard_normal(40)
degrees = range(1, 10)
model = EvidenceSelector([PolynomialBasis(k) for k in degrees], noise_variance=0.16, prior_variance=4.0).fit(x, y)
errors = []
for k in degrees:
    features = PolynomialBasis(k).fit_transform(x)
    errors.append(np.mean((y - LinearRegression().fit(features, y).predict(features)) ** 2))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(degrees, errors, "o-")
left.set(xlabel="degree", ylabel="training error")
right.plot(degrees, [r.log_evidence for r in model.results_], "o-", label="log evidence")
right.plot(degrees, [r.bic for r in model.results_], "s--", label="Schwarz's criterion")
right.set(xlabel="degree")
right.legend()
plt.show()
