"""
Logistic regression: what happens on separable data?
====================================================

Without a penalty, logistic regression maximizes a likelihood. If the classes are separable, the maximum does not exist, and the
coefficients that a solver returns depend on where it stopped. surefit proves which of the two cases applies.
"""

# %%
# Two classes that overlap, and the same classes moved apart.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression as Other

from surefit import LogisticRegression

rng = np.random.default_rng(3)
y = np.repeat([0, 1], 40)
noise = rng.standard_normal((80, 2))
samples = {"overlap": noise + 2.0 * y[:, None], "apart": noise + 4.5 * y[:, None]}

# %%
# The same model on both. The checker confirms the separating direction in exact arithmetic.
models = {}
for name, X in samples.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models[name] = LogisticRegression(C=np.inf).fit(X, y)
    print(name, "finite estimate:", not models[name].no_finite_mle_)
    print(models[name].verify(X, y))

# %%
# Another solver with decreasing tolerances: on separable data the norm of its coefficients depends on the tolerance.
tolerances = 10.0 ** -np.arange(1, 9)
lengths = {name: [] for name in samples}
for name, X in samples.items():
    for tol in tolerances:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lengths[name].append(np.linalg.norm(Other(C=np.inf, tol=tol, max_iter=10_000).fit(X, y).coef_))

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for ax, (name, X) in zip(axes, samples.items(), strict=False):
    model = models[name]
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=12)
    w, b = model.coef_[0], model.intercept_[0]
    across = np.array([X[:, 0].min(), X[:, 0].max()])
    ax.plot(across, -(b + w[0] * across) / w[1], "k")
    ax.set(title=f"{name}: " + ("no finite estimate" if model.no_finite_mle_ else "finite estimate"), ylim=(-4, 9))
for name, sizes in lengths.items():
    axes[2].loglog(tolerances, sizes, "o-", label=name)
axes[2].set(title="length of the coefficients", xlabel="tolerance of another solver")
axes[2].invert_xaxis()
axes[2].legend()

assert models["apart"].no_finite_mle_ and not models["overlap"].no_finite_mle_
