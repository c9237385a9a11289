r"""How far one visit of stochastic gradient descent moves: steps that fall with time, and passive-aggressive ones.

Every schedule of the family is :math:`\eta_t = a / (t_0 + t)^p`: constant (:math:`p = 0`), inverse scaling (:math:`t_0 = 0`), and
the one for strongly convex objectives (:math:`p = 1`, :math:`a = 1/\alpha`).
"""

from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.losses import slope, value

LARGEST_SLOPE = 1e12  # beyond it a step would only overflow


class PowerSteps(NamedTuple):
    r"""Steps :math:`\eta_t = a / (t_0 + t)^p`."""

    scale: float
    shift: float
    power: float


class PassiveAggressive(NamedTuple):
    r"""Steps that just satisfy the row: :math:`\min(C, \ell / \|x\|^2)`, or :math:`\ell / (\|x\|^2 + 1/2C)` if ``soft``."""

    limit: float
    soft: bool


@generic
def step_size(rule, t):
    """Return the step of visit ``t`` = 1, 2, ...; the penalty shrinks by it."""


@generic
def score_change(rule, loss, y, z, eta, square):
    """Return the factor of the row ``x`` to add to the weights; ``square`` is ``|x|^2`` where the rule needs it, else 0."""


@generic
def needs_square(rule):
    """Whether ``score_change`` looks at ``|x|^2``."""


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
    return -eta * min(max(slope(loss, y, z), -LARGEST_SLOPE), LARGEST_SLOPE)


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
