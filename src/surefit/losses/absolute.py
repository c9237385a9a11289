from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, is_margin_loss, lipschitz, slope, smoothness, value


class Absolute(NamedTuple):
    r"""Absolute loss :math:`|y - z|`; its minimiser is the median, so single outliers do not move it."""


@value.register(Absolute)
def _(loss, y, z):
    return abs(y - z)


@slope.register(Absolute)
def _(loss, y, z):
    return np.sign(z - y)


@conjugate.register(Absolute)
def _(loss, y, v):
    return v * y if abs(v) <= 1.0 else np.inf


@smoothness.register(Absolute)
def _(loss):
    return np.inf


@lipschitz.register(Absolute)
def _(loss):
    return 1.0


@is_margin_loss.register(Absolute)
def _(loss):
    return False
