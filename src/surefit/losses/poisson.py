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


@usable("poisson")
class Poisson(NamedTuple):
    r"""Half the Poisson deviance, :math:`e^z - yz + y \ln y - y` for counts :math:`y \ge 0`; its minimum over :math:`z` is zero.

    Examples
    --------
    >>> from surefit.losses import Poisson
    >>> round(Poisson()(2.0, 0.0), 6), Poisson().gradient(2.0, 0.0)
    (0.386294, -1.0)
    """


@value.register(Poisson)
def _(loss, y, z):
    return np.exp(z) - y * z - y + (y * np.log(y) if y > 0.0 else 0.0)


@slope.register(Poisson)
def _(loss, y, z):
    return np.exp(z) - y


@curvature.register(Poisson)
def _(loss, y, z):
    return np.exp(z)


@fenchel_conjugate.register(Poisson)
def _(loss, y, v):
    m = v + y
    if m < 0.0:
        return np.inf
    constant = y - (y * np.log(y) if y > 0.0 else 0.0)
    return constant + (m * np.log(m) - m if m > 0.0 else 0.0)


@smoothness.register(Poisson)
def _(loss):
    return np.inf


@lipschitz.register(Poisson)
def _(loss):
    return np.inf


@is_margin_loss.register(Poisson)
def _(loss):
    return False
