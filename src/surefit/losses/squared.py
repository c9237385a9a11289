from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, curvature, is_margin_loss, lipschitz, slope, smoothness, value


class Squared(NamedTuple):
    r"""Squared loss :math:`\tfrac12 (y - z)^2`; its minimiser is the mean."""


@value.register(Squared)
def _(loss, y, z):
    return 0.5 * (y - z) ** 2


@slope.register(Squared)
def _(loss, y, z):
    return z - y


@curvature.register(Squared)
def _(loss, y, z):
    return 1.0


@conjugate.register(Squared)
def _(loss, y, v):
    return 0.5 * v * v + v * y


@smoothness.register(Squared)
def _(loss):
    return 1.0


@lipschitz.register(Squared)
def _(loss):
    return np.inf


@is_margin_loss.register(Squared)
def _(loss):
    return False
