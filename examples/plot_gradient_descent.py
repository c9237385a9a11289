"""
Gradient descent: what happens if the step size exceeds 2/L?
============================================================

Gradient descent with a fixed step converges from every start if and only if the step is below :math:`2/L`. We run it with three steps on
the same quadratic function, and then stochastic gradient descent with constant and with decreasing steps.
"""

import warnings

import numpy as np

from surefit import DescentDisplay, GradientDescent, StepSizeDisplay, StochasticGradientDescent
from surefit.losses import Logistic
from surefit.optimizers import DecayingStep, LinearScores, Quadratic, StepTheory

warnings.simplefilter("ignore")  # two of the three steps do not converge, and say so

# %%
# The constants of the function give the admissible steps before any is taken.

bowl = Quadratic([[6.0, 1.0], [1.0, 1.0]], [1.0, 1.0])
theory = StepTheory.of(bowl)
print(
    f"steps below {theory.limit:.4f} converge; {theory.best:.4f} is best, with the factor {theory.rate(theory.best):.3f}"
)

start = [3.0, -2.0]
runs = {
    "too short": GradientDescent(0.02 * theory.limit, max_iter=40).minimize(bowl, start),
    "best": GradientDescent(theory.best, max_iter=40).minimize(bowl, start),
    "just admissible": GradientDescent(0.97 * theory.limit, max_iter=40).minimize(bowl, start),
    "too long": GradientDescent(1.02 * theory.limit, max_iter=40, any_step=True).minimize(bowl, start),
}
DescentDisplay(bowl, runs).plot(box=4.0)

# %%
StepSizeDisplay(runs).plot()

# %%
# A step that the theory does not admit is rejected unless it is forced.

try:
    GradientDescent(1.02 * theory.limit).minimize(bowl, start)
except ValueError as error:
    print(error)

# %%
# Stochastic gradient descent uses one row per step. With a constant step the iterates keep fluctuating; with decreasing steps, and for
# the mean of the iterates, they converge.

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 2))
y = np.where(X @ [1.0, -1.0] + rng.standard_normal(100) > 0, 1.0, -1.0)
loss = LinearScores(X, y, Logistic(), l2=0.05, fit_intercept=False)
paths = {
    "full gradient": GradientDescent(0.5, max_iter=60).minimize(loss, [-2.0, -2.0]),
    "one row, constant": StochasticGradientDescent(0.5, max_iter=60, random_state=0).minimize(loss, [-2.0, -2.0]),
    "one row, falling": StochasticGradientDescent(DecayingStep(0.5, 0.05, 0.7), max_iter=60, random_state=0).minimize(
        loss, [-2.0, -2.0]
    ),
}
DescentDisplay(loss, paths).plot()
