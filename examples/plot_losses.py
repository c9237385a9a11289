"""
Loss functions: how do they weigh margins and residuals?
========================================================

Classifiers are judged by their errors and trained with a convex loss. Losses of the margin :math:`u = t f(x)` that lie above the
0-1 loss bound the number of errors: the mean hinge loss is never below the training error. Losses of the residual differ in the weight
that they give to outliers.
"""

# %%
# Left: losses of the margin; the logistic loss is in bits, so that it equals one at margin zero. Right: losses of the residual.
import matplotlib.pyplot as plt
import numpy as np

from surefit.losses import (
    Absolute,
    EpsilonInsensitive,
    ExponentialLoss,
    Hinge,
    Huber,
    Logistic,
    Squared,
    SquaredHinge,
    ZeroOne,
    value,
)

u = np.linspace(-2.0, 3.0, 501)
figure, (margin, residual) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
margin.plot(u, [value(ZeroOne(), 1.0, z) for z in u], color="0.3", lw=2.5, label="0-1")
units = {"hinge": (Hinge(), 1.0), "squared hinge": (SquaredHinge(), 1.0), "exponential": (ExponentialLoss(), 1.0)}
for name, (loss, unit) in {**units, "logistic, in bits": (Logistic(), np.log(2))}.items():
    margin.plot(u, [value(loss, 1.0, z) / unit for z in u], label=name)
margin.set(xlabel="margin", ylabel="loss", ylim=(-0.1, 4.0))
margin.legend()

r = np.linspace(-3.0, 3.0, 601)
for name, loss in {
    "squared": Squared(),
    "absolute": Absolute(),
    "Huber": Huber(),
    "insensitive": EpsilonInsensitive(0.5),
}.items():
    residual.plot(r, [value(loss, 0.0, z) for z in r], label=name)
residual.set(xlabel="residual", ylim=(-0.1, 4.0))
residual.legend()
plt.show()
