from typing import NamedTuple

import numpy as np

from surefit.losses.base import (
    curvature,
    fenchel_conjugate,
    is_margin_loss,
    lipschitz,
    slope,
    smoothness,
    usable,
    value,
)


@usable("exponential")
class ExponentialLoss(NamedTuple):
    r"""Exponential loss :math:`e^{-u}`, :math:`u = y z`, minimized by AdaBoost.

    Examples
    --------
    >>> from surefit.losses import ExponentialLoss
    >>> ExponentialLoss()(1.0, 0.0), ExponentialLoss().gradient(1.0, 0.0)
    (1.0, -1.0)
    """


@value.register(ExponentialLoss)
def _(loss, y, z):
    return np.exp(-y * z)


@slope.register(ExponentialLoss)
def _(loss, y, z):
    return -y * np.exp(-y * z)


@curvature.register(ExponentialLoss)
def _(loss, y, z):
    return np.exp(-y * z)


@fenchel_conjugate.register(ExponentialLoss)
def _(loss, y, v):
    p = -v * y
    if p < 0.0:
        return np.inf
    return p * np.log(p) - p if p > 0.0 else 0.0


@smoothness.register(ExponentialLoss)
def _(loss):
    return np.inf


@lipschitz.register(ExponentialLoss)
def _(loss):
    return np.inf


@is_margin_loss.register(ExponentialLoss)
def _(loss):
    return True
