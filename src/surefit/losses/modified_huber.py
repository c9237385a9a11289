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


@usable("modified_huber")
class ModifiedHuber(NamedTuple):
    r"""Modified Huber loss: :math:`(1 - u)_+^2` for :math:`u = y z \ge -1`, :math:`-4u` below.

    Its minimizer is :math:`2 P(y = 1) - 1`, so scores clipped to [-1, 1] estimate the class probability.

    Examples
    --------
    >>> from surefit.losses import ModifiedHuber
    >>> ModifiedHuber()(1.0, 0.5), ModifiedHuber()(1.0, -2.0)
    (0.25, 8.0)
    """


@value.register(ModifiedHuber)
def _(loss, y, z):
    u = y * z
    return -4.0 * u if u < -1.0 else max(1.0 - u, 0.0) ** 2


@slope.register(ModifiedHuber)
def _(loss, y, z):
    return -2.0 * y * min(max(1.0 - y * z, 0.0), 2.0)


@curvature.register(ModifiedHuber)
def _(loss, y, z):
    return 2.0 if -1.0 <= y * z < 1.0 else 0.0


@fenchel_conjugate.register(ModifiedHuber)
def _(loss, y, v):
    s = v * y
    return s + 0.25 * s * s if -4.0 <= s <= 0.0 else np.inf


@smoothness.register(ModifiedHuber)
def _(loss):
    return 2.0


@lipschitz.register(ModifiedHuber)
def _(loss):
    return 4.0


@is_margin_loss.register(ModifiedHuber)
def _(loss):
    return True
