r"""Step sizes of stochastic gradient descent: decreasing schedules and passive-aggressive steps.

Every schedule is :math:`\eta_t = a / (t_0 + t)^p`: constant (:math:`p = 0`), inverse scaling (:math:`t_0 = 0`), and the schedule for
strongly convex objectives (:math:`p = 1`, :math:`a = 1/\alpha`).
"""

from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.losses import slope, value

LARGEST_DERIVATIVE = 1e12  # larger derivatives would only overflow


class PowerSteps(NamedTuple):
    r"""Steps :math:`\eta_t = a / (t_0 + t)^p`."""

    scale: float
    shift: float
    power: float


class PassiveAggressive(NamedTuple):
    r"""Steps that satisfy the current row: :math:`\min(C, \ell / \|x\|^2)`, or :math:`\ell / (\|x\|^2 + 1/2C)` if ``soft``."""

    limit: float
    soft: bool


@generic
def step_size(rule, t):
    """Return the step size at step ``t`` = 1, 2, ..., which also scales the shrinkage."""


@generic
def score_change(rule, loss, y, z, eta, square):
    """Return the multiple of the row ``x`` to add to the weights; ``square`` is ``|x|^2`` if the rule needs it, else 0."""


@generic
def needs_square(rule):
    """Return whether ``score_change`` uses ``|x|^2``."""


@step_size.register(PowerSteps)
def _(rule, t):
    if rule.power == 0.0:
        return rule.scale
    if rule.power == 1.0:
        return rule.scale / (rule.shift + t)
    if rule.power == 0.5:
        return rule.scale / np.sqrt(rule.shift + t)
    return rule.scale / (rule.shift + t) ** rule.power


@score_change.register(PowerSteps)
def _(rule, loss, y, z, eta, square):
    return -eta * min(max(slope(loss, y, z), -LARGEST_DERIVATIVE), LARGEST_DERIVATIVE)


@needs_square.register(PowerSteps)
def _(rule):
    return False


@step_size.register(PassiveAggressive)
def _(rule, t):
    return rule.limit


@score_change.register(PassiveAggressive)
def _(rule, loss, y, z, eta, square):
    if rule.soft:
        length = value(loss, y, z) / (square + 0.5 / rule.limit)
    elif square == 0.0:
        return 0.0
    else:
        length = min(rule.limit, value(loss, y, z) / square)
    return -length * slope(loss, y, z)


@needs_square.register(PassiveAggressive)
def _(rule):
    return True
