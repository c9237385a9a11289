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


@usable("squared_error")
class Squared(NamedTuple):
    r"""Squared loss :math:`\tfrac12 (y - z)^2`; its minimizer is the mean.

    Examples
    --------
    >>> from surefit.losses import Squared
    >>> Squared()(3.0, 1.0), Squared().gradient(3.0, 1.0), Squared().conjugate(3.0, 1.0)
    (2.0, -2.0, 3.5)
    """


@value.register(Squared)
def _(loss, y, z):
    return 0.5 * (y - z) ** 2


@slope.register(Squared)
def _(loss, y, z):
    return z - y


@curvature.register(Squared)
def _(loss, y, z):
    return 1.0


@fenchel_conjugate.register(Squared)
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
