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


@usable("pinball")
class Pinball(NamedTuple):
    r"""Pinball loss :math:`q (y - z)_+ + (1 - q) (z - y)_+`; its minimizer is the q-quantile.

    Examples
    --------
    >>> from surefit.losses import Pinball
    >>> Pinball(0.75)(1.0, 0.0), Pinball(0.75)(0.0, 1.0)
    (0.75, 0.25)
    """

    quantile: float = 0.5


@value.register(Pinball)
def _(loss, y, z):
    return max(loss.quantile * (y - z), (1.0 - loss.quantile) * (z - y))


@slope.register(Pinball)
def _(loss, y, z):
    return 0.0 if z == y else (1.0 - loss.quantile if z > y else -loss.quantile)


@fenchel_conjugate.register(Pinball)
def _(loss, y, v):
    return v * y if -loss.quantile <= v <= 1.0 - loss.quantile else np.inf


@smoothness.register(Pinball)
def _(loss):
    return np.inf


@lipschitz.register(Pinball)
def _(loss):
    return max(loss.quantile, 1.0 - loss.quantile)


@is_margin_loss.register(Pinball)
def _(loss):
    return False


@smoothed.register(Pinball)
def _(loss, y, z, mu):
    up, down = kink(z - y, 1.0 - loss.quantile, mu), kink(y - z, loss.quantile, mu)
    return up[0] + down[0], up[1] - down[1], up[2] + down[2]
