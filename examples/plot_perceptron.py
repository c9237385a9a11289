"""
Perceptron: how many mistakes does it make before it stops?
===========================================================

A perceptron moves its hyperplane at every mistake. On separable classes it stops, and its certificate proves that it had to; on
overlapping classes it never stops. We look at both runs.
"""

# %%
# Two normal distributions with equal covariance. The best line errs on 2.3 % of the points, so a sample of a hundred is usually not
# separable. After the classes are moved apart a little, it is.
import matplotlib.pyplot as plt
import numpy as np

from surefit import MarginHistogramDisplay, MistakeBoundDisplay, Perceptron, UpdatePathDisplay, maximal_margin
from surefit.data import make_two_gaussians

X, y, truth = make_two_gaussians(random_state=9)
apart = X + 0.25 * y[:, None]

# %%
# Left: a hundred passes over the overlapping classes, one thin line per update. Right: the run on the separable classes, which stops.
endless = Perceptron(shuffle=False, max_iter=100, tol=None).fit(X, y)
finished = Perceptron(shuffle=False, tol=None).fit(apart, y)
print(f"Bayes risk {truth['bayes_risk']:.4f}; overlapping: {endless.ending_} after {endless.n_updates_} updates")
print(f"apart: {finished.ending_} after {finished.n_updates_} updates in {finished.n_iter_} passes")

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
UpdatePathDisplay.from_estimator(endless, X, y).plot(axes[0], box=3)
UpdatePathDisplay.from_estimator(finished, apart, y).plot(axes[1], box=3.5)

# %%
# The certificate of the finished run, and its independent verification.
print(finished.certificate_)
print(finished.verify(apart, y))

# %%
# Why it had to end: the norm of the weights stays below :math:`\sqrt j R` and above :math:`j \gamma`. The two meet at the
# mistake bound.
MistakeBoundDisplay.from_estimator(finished).plot()

# %%
# A perceptron does not maximize the margin: other orders of the rows give other lines, none with a larger margin than the maximal one.
best = maximal_margin(apart, y)
runs = [Perceptron(random_state=seed, tol=None).fit(apart, y) for seed in range(300)]
margins = np.array([run.certificate_["perceptron.geometric_margin"].value for run in runs])

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
MarginHistogramDisplay.from_estimator(finished, apart, y).plot(axes[0])
axes[1].hist(margins, bins=30, color="C0", alpha=0.75)
axes[1].axvline(best.bracket.low, color="C3", linestyle=":", label=f"widest: {best.bracket.low:.3f}")
axes[1].set(xlabel="margin of the line", ylabel="orders", title="300 shuffles of the same rows")
axes[1].legend(frameon=False)
plt.show()
