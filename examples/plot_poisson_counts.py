"""
Poisson regression: how close is the fitted mean of counts to the truth?
========================================================================

Counts whose mean grows exponentially. The Poisson fit is certified like any convex fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import PoissonRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 3, 200)[:, None]
y = rng.poisson(np.exp(0.3 + 0.8 * x[:, 0]))
model = PoissonRegressor(alpha=0.0, tol=1e-8).fit(x, y)
print(model.certificate_)

grid = np.linspace(0, 3, 100)[:, None]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x, y, ".", color="0.6")
axes.plot(grid, model.predict(grid), label="fitted mean")
axes.plot(grid, np.exp(0.3 + 0.8 * grid), "k:", label="true mean")
axes.set(xlabel="x", ylabel="count")
axes.legend()
plt.show()
