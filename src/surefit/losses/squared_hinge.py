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


@usable("squared_hinge")
class SquaredHinge(NamedTuple):
    r"""Squared hinge loss :math:`(1 - u)_+^2`, :math:`u = y z`.

    Examples
    --------
    >>> from surefit.losses import SquaredHinge
    >>> SquaredHinge()(1.0, 0.5), SquaredHinge().gradient(1.0, 0.5)
    (0.25, -1.0)
    """


@value.register(SquaredHinge)
def _(loss, y, z):
    return max(1.0 - y * z, 0.0) ** 2


@slope.register(SquaredHinge)
def _(loss, y, z):
    return -2.0 * y * max(1.0 - y * z, 0.0)


@curvature.register(SquaredHinge)
def _(loss, y, z):
    return 2.0 if y * z < 1.0 else 0.0


@fenchel_conjugate.register(SquaredHinge)
def _(loss, y, v):
    s = v * y
    return s + 0.25 * s * s if s <= 0.0 else np.inf


@smoothness.register(SquaredHinge)
def _(loss):
    return 2.0


@lipschitz.register(SquaredHinge)
def _(loss):
    return np.inf


@is_margin_loss.register(SquaredHinge)
def _(loss):
    return True
