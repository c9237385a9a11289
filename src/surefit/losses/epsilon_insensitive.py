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


@usable("epsilon_insensitive")
class EpsilonInsensitive(NamedTuple):
    r"""Epsilon-insensitive loss :math:`(|y - z| - \epsilon)_+`: zero inside the tube, absolute outside.

    Examples
    --------
    >>> from surefit.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5)(3.0, 1.0), EpsilonInsensitive(0.5)(3.0, 2.75)
    (1.5, 0.0)
    """

    epsilon: float = 0.1


@value.register(EpsilonInsensitive)
def _(loss, y, z):
    return max(abs(y - z) - loss.epsilon, 0.0)


@slope.register(EpsilonInsensitive)
def _(loss, y, z):
    return np.sign(z - y) if abs(y - z) > loss.epsilon else 0.0


@fenchel_conjugate.register(EpsilonInsensitive)
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


@smoothed.register(EpsilonInsensitive)
def _(loss, y, z, mu):
    up, down = kink(z - y - loss.epsilon, 1.0, mu), kink(y - z - loss.epsilon, 1.0, mu)
    return up[0] + down[0], up[1] - down[1], up[2] + down[2]
