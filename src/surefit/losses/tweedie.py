from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
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

STEPS = 60  # largest number of Newton steps for the conjugate; convergence is monotone and usually takes far fewer


@usable("tweedie")
class Tweedie(NamedTuple):
    r"""Half the Tweedie deviance of the mean :math:`e^z`, for a power from 1 (Poisson) to 2 (gamma).

    .. math:: \frac{y^{2-p}}{(1-p)(2-p)} + \frac{y\,e^{-(p-1)z}}{p-1} + \frac{e^{(2-p)z}}{2-p},

    a sum of two convex exponentials and a constant. The limits are :math:`e^z - yz + y \ln y - y` for power 1 and
    :math:`y e^{-z} + z - \ln y - 1` for power 2. Targets are :math:`\ge 0`, for power 2 they are :math:`> 0`. Its
    minimum over :math:`z` is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.losses import Tweedie
    >>> loss = Tweedie(2.0)
    >>> round(float(loss(2.0, np.log(2.0))), 12) + 0.0, round(float(loss(2.0, 0.0)), 6)  # 2 - ln 2 - 1
    (0.0, 0.306853)
    """

    power: float = 1.5


@compiled
def _growth(b, z):
    """Return ``(exp(b z) - 1) / b``, which is ``z`` for ``b = 0``."""
    return np.expm1(b * z) / b if b != 0.0 else z


@value.register(Tweedie)
def _(loss, y, z):
    a, b = loss.power - 1.0, 2.0 - loss.power
    if y <= 0.0:
        return np.exp(b * z) / b if b > 0.0 else np.inf
    # In t = z - ln y the deviance is y^(2-p) times a function of t alone, without cancellation of constants.
    t = z - np.log(y)
    return y**b * (_growth(b, t) - _growth(-a, t))


@slope.register(Tweedie)
def _(loss, y, z):
    a, b = loss.power - 1.0, 2.0 - loss.power
    return np.exp(b * z) - y * np.exp(-a * z)


@curvature.register(Tweedie)
def _(loss, y, z):
    a, b = loss.power - 1.0, 2.0 - loss.power
    return b * np.exp(b * z) + a * y * np.exp(-a * z)


@fenchel_conjugate.register(Tweedie)
def _(loss, y, v):
    a, b = loss.power - 1.0, 2.0 - loss.power
    if y <= 0.0:
        if b == 0.0 or v < 0.0:
            return np.inf
        return (v * np.log(v) - v) / b if v > 0.0 else 0.0
    if b == 0.0 and v >= 1.0:  # ends of the range of derivatives, attained at infinity
        return np.log(y) + 1.0 if v == 1.0 else np.inf
    if a == 0.0 and v <= -y:
        return y - y * np.log(y) if v == -y else np.inf
    z = _score(a, b, y, v)
    t = z - np.log(y)
    return v * z - y**b * (_growth(b, t) - _growth(-a, t))


@compiled
def _score(a, b, y, v):
    """Return the score at which the derivative is ``v``, by Newton's method on the logarithm of the increasing or decreasing part."""
    if b == 0.0:
        return np.log(y / (1.0 - v))
    if a == 0.0:
        return np.log(v + y)
    # If v > 0, the increasing exponential dominates: solve b z = ln(v + y e^{-az}); otherwise a z = ln(y / (e^{bz} -
    # v)).
    z = np.log(y)
    for _ in range(STEPS):
        rise, fall = np.exp(b * z), y * np.exp(-a * z)
        if v > 0.0:
            step = (b * z - np.log(v + fall)) / (b + a * fall / (v + fall))
        else:
            step = (a * z - np.log(y) + np.log(rise - v)) / (a + b * rise / (rise - v))
        z -= step
        if abs(step) <= 1e-16 * (1.0 + abs(z)):
            break
    return z


@smoothness.register(Tweedie)
def _(loss):
    return np.inf


@lipschitz.register(Tweedie)
def _(loss):
    return np.inf


@is_margin_loss.register(Tweedie)
def _(loss):
    return False
