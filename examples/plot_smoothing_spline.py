"""
A smoothing spline and how much to smooth
=========================================

Two hundred noisy points, a cubic smoothing spline with its weight chosen by generalised cross-validation, and the same with other
weights. The criterion has more than one minimum in general; the certificate says what was compared.
"""

import numpy as np

from surefit import FilterFactorDisplay, SmoothingSpline, SplineFamilyDisplay

rng = np.random.default_rng(1)
x = np.sort(rng.random(200))
y = np.sin(12 * x) + 0.5 * np.cos(40 * x) * x + 0.3 * rng.standard_normal(200)
display = SplineFamilyDisplay.from_data(x, y, factors=(1e-4, 1e4)).plot()

# %%
# What is proved of the fit, and verified again from the data:
display.model.verify(x, y)

# %%
# As a filter: each spline leaves low frequencies and damps high ones; a truncated series would cut off sharply.
t = np.arange(1, 101) / 100
models = [SmoothingSpline(1, lam=lam, form="special").fit(t, np.sin(6 * t)) for lam in (1e-4, 1e-3, 1e-2)]
FilterFactorDisplay(models, n_terms=10).plot()
