"""
Lasso with a time limit: how large is the gap of a fit that is stopped early?
=============================================================================

The duality gap of a lasso fit over time. Stopping at any moment leaves a usable model and its gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import GapDisplay, Lasso

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 2000))
y = X[:, :20].sum(axis=1) + rng.standard_normal(400)
model = Lasso(alpha=0.02, tol=1e-9).fit(X, y)
display = GapDisplay.from_estimator(model)
display.plot()
display.ax_.set(title="Proved distance from the optimum while the fit runs")
plt.show()
