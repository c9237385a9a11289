from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, is_margin_loss, lipschitz, slope, smoothness, value


class PerceptronLoss(NamedTuple):
    r"""Perceptron loss :math:`(-u)_+`, :math:`u = y z`; a zero score counts as a mistake, so its slope there is :math:`-y`."""


@value.register(PerceptronLoss)
def _(loss, y, z):
    return max(-y * z, 0.0)


@slope.register(PerceptronLoss)
def _(loss, y, z):
    return -y if y * z <= 0.0 else 0.0 * y


@conjugate.register(PerceptronLoss)
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
