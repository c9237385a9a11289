from typing import NamedTuple

import numpy as np

from surefit.losses.base import (
    fenchel_conjugate,
    is_margin_loss,
    kink,
    lipschitz,
    slope,
    smoothed,
    smoothness,
    usable,
    value,
)


@usable("absolute_error")
class Absolute(NamedTuple):
    r"""Absolute loss :math:`|y - z|`; its minimizer is the median, which is robust to single outliers.

    Examples
    --------
    >>> from surefit.losses import Absolute
    >>> Absolute()(3.0, 1.0), Absolute().gradient(3.0, 1.0)
    (2.0, -1.0)
    """


@value.register(Absolute)
def _(loss, y, z):
    return abs(y - z)


@slope.register(Absolute)
def _(loss, y, z):
    return np.sign(z - y)


@fenchel_conjugate.register(Absolute)
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


@smoothed.register(Absolute)
def _(loss, y, z, mu):
    up, down = kink(z - y, 1.0, mu), kink(y - z, 1.0, mu)
    return up[0] + down[0], up[1] - down[1], up[2] + down[2]
