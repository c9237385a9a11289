"""
Too simple, right, too rich
===========================

Polynomials of growing degree on sixty noisy points of a wave. The training error always falls; the test error has a minimum, and a
curve that carries its uncertainty can say where a model under- or overfits and where nobody knows.
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
# Structural risk minimisation needs no test rows: it adds to each training error the price of the class it was chosen from. The
# price is high; with 20000 points inside and outside a disc it is low enough to find the conics.

points = rng.uniform(-1, 1, size=(20_000, 2))
inside = (points[:, 0] ** 2 + points[:, 1] ** 2 < 0.6).astype(int)
chosen = StructuralRiskMinimizer().fit(points, inside)
print(chosen.certificate_)
StructureDisplay.from_estimator(chosen, ["lines", "conics", "cubics"]).plot()
plt.show()
