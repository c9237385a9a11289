"""
Gaussian processes: how does the length scale change the fit?
=============================================================

Forty noisy observations; the length scale of the Gaussian kernel and the noise are chosen to maximize the evidence. The
certificate bounds the error of the posterior mean everywhere. The band is two posterior standard deviations wide on
each side.
"""

import numpy as np

from surefit import GaussianProcessDisplay, GaussianProcessRegressor, LengthScaleDisplay
from surefit.kernels import RBF, Noise

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 40))
y = np.sin(2 * x) + 0.2 * rng.standard_normal(40)
model = GaussianProcessRegressor(1.0 * RBF(1.0) + Noise(0.1)).fit(x[:, None], y)
GaussianProcessDisplay.from_estimator(model).plot()

# %%
# The claims of the fit, verified again from the data:
model.verify(x[:, None], y)

# %%
# Classification: twenty points, the same prior variance, three length scales. Longer lengths give smoother boundaries.
X = rng.uniform(size=(20, 2))
labels = np.sin(5 * X[:, 0]) + 0.4 * rng.standard_normal(20) > X[:, 1]
LengthScaleDisplay(X, labels).plot()
