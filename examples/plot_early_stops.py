"""
What an early stop costs
========================

A solver that is stopped early usually says "failed to converge". Here it says how far it is. We stop a lasso at looser and
tighter tolerances and compare what its certificate *proves* with the truth, which we know because we solve once to the end.
"""

# %%
# The problem: 200 rows, 600 correlated features, ten of which matter.
import matplotlib.pyplot as plt
import numpy as np

from surefit import Lasso, prediction_stability

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 600)) + rng.standard_normal((200, 1))
weights = np.zeros(600)
weights[:10] = rng.uniform(1, 3, 10) * rng.choice([-1, 1], 10)
y = X @ weights + rng.standard_normal(200)
alpha = 0.05


def objective(model):
    return np.mean((y - model.predict(X)) ** 2) / 2 + alpha * np.abs(model.coef_).sum()


# %%
# The truth, and the stops. The checker verifies each model, finished or not.
exact = Lasso(alpha=alpha, tol=1e-13).fit(X, y)
tolerances = np.logspace(-1, -11, 21)
gaps, excesses, bounds, moves, proved, used = [], [], [], [], [], []
for tol in tolerances:
    model = Lasso(alpha=alpha, tol=tol).fit(X, y)
    model.verify(X, y)
    gaps.append(model.dual_gap_)
    excesses.append(objective(model) - objective(exact))
    bounds.append(prediction_stability(model, X, y).largest)
    moves.append(np.abs(model.predict(X) - exact.predict(X)).max())
    proved.append(model.inactive_.sum())
    used.append(np.count_nonzero(model.coef_))

# %%
# Left: the proved gap is never below the true excess. Middle: no prediction moves farther than its bound. Right: the tighter
# the gap, the more features are proved to be zero in *every* solution, until none is left undecided.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
rounding = 1e-16 * objective(exact)
axes[0].loglog(tolerances, gaps, label="proved gap")
axes[0].loglog(tolerances, np.maximum(excesses, rounding), "--", label="true excess")
axes[0].set(title="objective above its minimum")
axes[1].loglog(tolerances, bounds, label="proved bound")
axes[1].loglog(tolerances, np.maximum(moves, rounding), "--", label="true distance")
axes[1].set(title="training predictions from exact ones")
axes[2].fill_between(tolerances, np.array(proved), color="C0", alpha=0.4, label="proved zero")
axes[2].fill_between(tolerances, proved, 600 - np.array(used), color="C3", alpha=0.4, label="undecided")
axes[2].fill_between(tolerances, 600 - np.array(used), 600, color="C2", alpha=0.6, label="used")
axes[2].set(title="features", xscale="log", ylim=(0, 600))
for ax in axes:
    ax.set_xlabel("tol (relative duality gap)")
    ax.invert_xaxis()
    ax.legend()

assert all(gap >= excess - 1e-12 for gap, excess in zip(gaps, excesses, strict=True))
assert all(bound >= move - 1e-9 for bound, move in zip(bounds, moves, strict=True))
