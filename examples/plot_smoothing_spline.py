"""
Smoothing spline: which penalty does generalized cross-validation choose?
=========================================================================

Two hundred noisy points, a cubic smoothing spline whose penalty minimizes the generalized cross-validation score, and splines with other
penalties. The score can have several minima; the certificate states which values were compared.
"""

import numpy as np

from surefit import FilterFactorDisplay, SmoothingSpline, SplineFamilyDisplay

rng = np.random.default_rng(1)
x = np.sort(rng.random(200))
y = np.sin(12 * x) + 0.5 * np.cos(40 * x) * x + 0.3 * rng.standard_normal(200)
display = SplineFamilyDisplay.from_data(x, y, factors=(1e-4, 1e4)).plot()

# %%
# The claims of the fit, verified again from the data:
display.model.verify(x, y)

# %%
# A smoothing spline is a low-pass filter: it keeps low frequencies and damps high ones. A truncated series cuts off sharply.
t = np.arange(1, 101) / 100
models = [SmoothingSpline(1, lam=lam, form="special").fit(t, np.sin(6 * t)) for lam in (1e-4, 1e-3, 1e-2)]
FilterFactorDisplay(models, n_terms=10).plot()
