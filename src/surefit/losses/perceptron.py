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


@usable("perceptron")
class PerceptronLoss(NamedTuple):
    r"""Perceptron loss :math:`(-u)_+`, :math:`u = y z`. A zero score counts as a mistake, so the derivative there is :math:`-y`.

    Examples
    --------
    >>> from surefit.losses import PerceptronLoss
    >>> PerceptronLoss()(1.0, -0.5), PerceptronLoss().gradient(1.0, 0.0)
    (0.5, -1.0)
    """


@value.register(PerceptronLoss)
def _(loss, y, z):
    return max(-y * z, 0.0)


@slope.register(PerceptronLoss)
def _(loss, y, z):
    return -y if y * z <= 0.0 else 0.0 * y


@fenchel_conjugate.register(PerceptronLoss)
def _(loss, y, v):
    return 0.0 if -1.0 <= v * y <= 0.0 else np.inf


@smoothness.register(PerceptronLoss)
def _(loss):
    return np.inf


@lipschitz.register(PerceptronLoss)
def _(loss):
    return 1.0


@is_margin_loss.register(PerceptronLoss)
def _(loss):
    return True


@smoothed.register(PerceptronLoss)
def _(loss, y, z, mu):
    total, p, bend = kink(-y * z, 1.0, mu)
    return total, -y * p, bend
