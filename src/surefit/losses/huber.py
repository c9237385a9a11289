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


@usable("huber")
class Huber(NamedTuple):
    r"""Huber's loss: :math:`\tfrac12 r^2` for :math:`|r| \le \delta`,
    :math:`\delta |r| - \tfrac12 \delta^2` beyond, where :math:`r = y - z`.

    Examples
    --------
    >>> from surefit.losses import Huber
    >>> Huber(1.0)(0.5, 0.0), Huber(1.0)(3.0, 0.0)
    (0.125, 2.5)
    """

    delta: float = 1.0


@value.register(Huber)
def _(loss, y, z):
    r = abs(y - z)
    return 0.5 * r * r if r <= loss.delta else loss.delta * (r - 0.5 * loss.delta)


@slope.register(Huber)
def _(loss, y, z):
    return min(max(z - y, -loss.delta), loss.delta)


@curvature.register(Huber)
def _(loss, y, z):
    return 1.0 if abs(y - z) <= loss.delta else 0.0


@fenchel_conjugate.register(Huber)
def _(loss, y, v):
    return 0.5 * v * v + v * y if abs(v) <= loss.delta else np.inf


@smoothness.register(Huber)
def _(loss):
    return 1.0


@lipschitz.register(Huber)
def _(loss):
    return loss.delta


@is_margin_loss.register(Huber)
def _(loss):
    return False
