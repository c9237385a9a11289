from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, curvature, is_margin_loss, lipschitz, slope, smoothness, value


class Exponential(NamedTuple):
    r"""Exponential loss :math:`e^{-u}`, :math:`u = y z`: what AdaBoost minimises."""


@value.register(Exponential)
def _(loss, y, z):
    return np.exp(-y * z)


@slope.register(Exponential)
def _(loss, y, z):
    return -y * np.exp(-y * z)


@curvature.register(Exponential)
def _(loss, y, z):
    return np.exp(-y * z)


@conjugate.register(Exponential)
def _(loss, y, v):
    p = -v * y
    if p < 0.0:
        return np.inf
    return p * np.log(p) - p if p > 0.0 else 0.0


@smoothness.register(Exponential)
def _(loss):
    return np.inf


@lipschitz.register(Exponential)
def _(loss):
    return np.inf


@is_margin_loss.register(Exponential)
def _(loss):
    return True
