"""
A Gaussian process with its band, and what length scales do
============================================================

Forty noisy observations, a Gaussian kernel and noise whose sizes maximise the evidence. The certificate bounds the error of the mean
everywhere; the band is two posterior deviations wide.
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
# What is proved of the fit, and verified again from the data:
model.verify(x[:, None], y)

# %%
# Classification: twenty points, the same prior variance, three length scales. Longer lengths give smoother boundaries.
X = rng.uniform(size=(20, 2))
labels = np.sin(5 * X[:, 0]) + 0.4 * rng.standard_normal(20) > X[:, 1]
LengthScaleDisplay(X, labels).plot()
