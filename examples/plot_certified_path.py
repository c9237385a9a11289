"""
Lasso path: are its certified gaps right?
=========================================

A lasso path shows how coefficients enter as the penalty decreases. Here each point also states how far it can be from the exact
solution, and which features are zero in every solution. To test these statements we solve the path twice, once with a loose
tolerance and once with a tight one, and compare what the loose path *claims* with the truth.
"""

# %%
# The problem: 200 rows, 600 correlated features, eight of which matter.
import matplotlib.pyplot as plt
import numpy as np

from surefit import Lasso, lasso_path

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 600)) + rng.standard_normal((200, 1))
X -= X.mean(axis=0)
weights = np.zeros(600)
weights[:8] = [3.0, -3.0, 2.0, -2.0, 1.5, -1.5, 1.0, -1.0]
y = X @ weights + rng.standard_normal(200)
y -= y.mean()


def objectives(alphas, coefs):
    return np.mean((y[:, None] - X @ coefs) ** 2, axis=0) / 2 + alphas * np.abs(coefs).sum(axis=0)


# %%
# The same path to a relative gap of 1e-2 and of 1e-12.
alphas, loose, gaps = lasso_path(X, y, eps=0.01, alphas=60, tol=1e-2)
_, exact, _ = lasso_path(X, y, alphas=alphas, tol=1e-12)
null_objective = np.mean(y**2) / 2
relative_gap = gaps / null_objective
true_excess = (objectives(alphas, loose) - objectives(alphas, exact)) / null_objective

# %%
# At each penalty, one fit states which features are zero in every solution. The independent checker confirms it.
used, proved = [], []
for alpha in alphas:
    model = Lasso(alpha=alpha, fit_intercept=False).fit(X, y)
    model.verify(X, y)
    used.append(np.count_nonzero(model.coef_))
    proved.append(model.inactive_.sum())
used, proved = np.array(used), np.array(proved)

# %%
# Left: the coefficients, those that matter in color. Middle: the claimed gap is never below the true excess. Right: nearly
# every feature is either used or proved to be zero in every solution.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
axes[0].semilogx(alphas, exact[8:].T, color="0.75", linewidth=0.6, rasterized=True)
axes[0].semilogx(alphas, exact[:8].T)
axes[0].set_title("coefficients")
axes[1].loglog(alphas, relative_gap, label="proved gap")
axes[1].loglog(alphas, np.maximum(true_excess, 1e-12), "--", label="true excess")
axes[1].axhline(1e-2, color="0.5", linewidth=0.8)
axes[1].set(title="objective above its minimum, tol = 0.01", ylim=(1e-8, 2e-2))
axes[1].legend(loc="lower left")
axes[2].fill_between(alphas, 0, used, color="C2", alpha=0.6, label="used")
axes[2].fill_between(alphas, used, 600 - proved, color="C3", alpha=0.6, label="undecided")
axes[2].fill_between(alphas, 600 - proved, 600, color="C0", alpha=0.4, label="proved zero")
axes[2].set(title="features, tol = 1e-6", xscale="log", ylim=(0, 600))
axes[2].legend(loc="upper left")
for ax in axes:
    ax.set_xlabel("alpha")
    ax.invert_xaxis()

assert np.all(true_excess <= relative_gap + 1e-12)
