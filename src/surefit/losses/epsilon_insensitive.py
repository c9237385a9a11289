from typing import NamedTuple

import numpy as np

from surefit.losses.base import conjugate, is_margin_loss, lipschitz, slope, smoothness, value


class EpsilonInsensitive(NamedTuple):
    r"""Tube loss :math:`(|y - z| - \epsilon)_+`: free inside the tube, absolute outside."""

    epsilon: float = 0.1


@value.register(EpsilonInsensitive)
def _(loss, y, z):
    return max(abs(y - z) - loss.epsilon, 0.0)


@slope.register(EpsilonInsensitive)
def _(loss, y, z):
    return np.sign(z - y) if abs(y - z) > loss.epsilon else 0.0


@conjugate.register(EpsilonInsensitive)
def _(loss, y, v):
    return v * y + loss.epsilon * abs(v) if abs(v) <= 1.0 else np.inf


@smoothness.register(EpsilonInsensitive)
def _(loss):
    return np.inf


@lipschitz.register(EpsilonInsensitive)
def _(loss):
    return 1.0


@is_margin_loss.register(EpsilonInsensitive)
def _(loss):
    return False
