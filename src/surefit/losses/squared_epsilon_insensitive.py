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


@usable("squared_epsilon_insensitive")
class SquaredEpsilonInsensitive(NamedTuple):
    r"""Squared epsilon-insensitive loss :math:`(|y - z| - \epsilon)_+^2`.

    Examples
    --------
    >>> from surefit.losses import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(0.5)(3.0, 1.0)
    2.25
    """

    epsilon: float = 0.1


@value.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    return max(abs(y - z) - loss.epsilon, 0.0) ** 2


@slope.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    return 2.0 * np.sign(z - y) * max(abs(y - z) - loss.epsilon, 0.0)


@curvature.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    return 2.0 if abs(y - z) > loss.epsilon else 0.0


@fenchel_conjugate.register(SquaredEpsilonInsensitive)
def _(loss, y, v):
    return v * y + loss.epsilon * abs(v) + 0.25 * v * v


@smoothness.register(SquaredEpsilonInsensitive)
def _(loss):
    return 2.0


@lipschitz.register(SquaredEpsilonInsensitive)
def _(loss):
    return np.inf


@is_margin_loss.register(SquaredEpsilonInsensitive)
def _(loss):
    return False
