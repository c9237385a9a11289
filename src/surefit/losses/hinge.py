from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, is_margin_loss, lipschitz, slope, smoothness, value


class Hinge(NamedTuple):
    r"""Hinge loss :math:`(1 - u)_+`, :math:`u = y z`: the soft-margin SVM."""


@value.register(Hinge)
def _(loss, y, z):
    return max(1.0 - y * z, 0.0)


@slope.register(Hinge)
def _(loss, y, z):
    return -y if y * z < 1.0 else 0.0 * y


@conjugate.register(Hinge)
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
