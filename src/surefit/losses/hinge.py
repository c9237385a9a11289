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


@usable("hinge")
class Hinge(NamedTuple):
    r"""Hinge loss :math:`(1 - u)_+`, :math:`u = y z`, of the soft-margin SVM.

    Examples
    --------
    >>> from surefit.losses import Hinge
    >>> Hinge()(1.0, 0.25), Hinge()(1.0, 2.0), Hinge().gradient(1.0, 0.25)
    (0.75, 0.0, -1.0)
    """


@value.register(Hinge)
def _(loss, y, z):
    return max(1.0 - y * z, 0.0)


@slope.register(Hinge)
def _(loss, y, z):
    return -y if y * z < 1.0 else 0.0 * y


@fenchel_conjugate.register(Hinge)
def _(loss, y, v):
    return v * y if -1.0 <= v * y <= 0.0 else np.inf


@smoothness.register(Hinge)
def _(loss):
    return np.inf


@lipschitz.register(Hinge)
def _(loss):
    return 1.0


@is_margin_loss.register(Hinge)
def _(loss):
    return True


@smoothed.register(Hinge)
def _(loss, y, z, mu):
    total, p, bend = kink(1.0 - y * z, 1.0, mu)
    return total, -y * p, bend
