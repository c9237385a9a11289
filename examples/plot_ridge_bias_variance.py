"""
Ridge regression: how does the penalty trade bias for variance?
===============================================================

Ridge regression trades bias for variance. When the true coefficients are known, both are exact curves, and some positive penalty is
always better than none. When they are unknown, the leave-one-out error finds a good penalty from the data.
"""

# %%
# Thirty rows of ten correlated features.
import matplotlib.pyplot as plt
import numpy as np

from surefit import RidgeCV, ridge_risk

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 10)) + rng.standard_normal((30, 1))
X -= X.mean(axis=0)
truth = rng.standard_normal(10)
alphas = np.geomspace(0.01, 1000, 60)

# %%
# The exact curves, and the leave-one-out error of one sample, from one eigendecomposition.
risk = ridge_risk(X, alphas, truth=truth, sigma2=4.0)
y = X @ truth + 2 * rng.standard_normal(30)
model = RidgeCV(alphas).fit(X, y)
print(model.verify(X, y))

# %%
# The penalty that leave-one-out chooses need not be the best one for the coefficients; both lie where the curves are flat.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for curve, name in ((risk.squared_bias, "squared bias"), (risk.variance, "variance"), (risk.mse, "mean squared error")):
    left.loglog(alphas, curve, label=name)
left.axvline(risk.best_alpha, color="gray", linestyle=":")
left.set(xlabel="penalty", title="Coefficients, truth known")
left.legend()
right.loglog(alphas, -model.scores_)
right.axvline(model.alpha_, color="gray", linestyle=":")
right.set(xlabel="penalty", title="Leave-one-out error, truth unknown")
plt.show()
