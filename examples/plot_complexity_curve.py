"""
Polynomial regression: which degree underfits, and which overfits?
==================================================================

Polynomials of increasing degree are fitted to sixty noisy points of a sine wave. The training error always decreases; the test error
has a minimum. A curve with confidence intervals shows where a model underfits, where it overfits, and where the data cannot tell.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from surefit import (
    CurveDisplay,
    LinearRegression,
    PolynomialBasis,
    StructuralRiskMinimizer,
    StructureDisplay,
    complexity_curve,
)

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, size=(60, 1))
y = np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=60)

models = {degree: make_pipeline(PolynomialBasis(degree), LinearRegression()) for degree in (1, 2, 3, 5, 8, 12, 18)}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # high powers are badly conditioned, which is the point
    curve = complexity_curve(models, x, y, cv=10, random_state=0, name="degree")
print(curve)
display = CurveDisplay(curve).plot()
display.ax_.set_yscale("log")

# %%
# Structural risk minimization needs no test rows: it adds a complexity term to each training error. The term is large for sixty rows; with
# 20000 points inside and outside a disk it is small enough to select degree two.

points = rng.uniform(-1, 1, size=(20_000, 2))
inside = (points[:, 0] ** 2 + points[:, 1] ** 2 < 0.6).astype(int)
chosen = StructuralRiskMinimizer().fit(points, inside)
print(chosen.certificate_)
StructureDisplay.from_estimator(chosen, names=["lines", "conics", "cubics"]).plot()
plt.show()
