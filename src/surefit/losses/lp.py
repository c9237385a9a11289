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


@usable("lp")
class Lp(NamedTuple):
    r"""Power of the residual :math:`|y - z|^p`, :math:`p \ge 1`; p = 2 is the squared error without the factor 1/2.

    For absolute residuals of at most M, it is Lipschitz with constant :math:`p M^{p-1}` and bounded by :math:`M^p`: see
    ``losses.lipschitz_on`` and ``losses.bound_on``.

    Examples
    --------
    >>> from surefit.losses import Lp
    >>> Lp(3.0)(2.0, 0.0), Lp(3.0).gradient(2.0, 0.0)
    (8.0, -12.0)
    """

    p: float = 2.0


@value.register(Lp)
def _(loss, y, z):
    return abs(y - z) ** loss.p


@slope.register(Lp)
def _(loss, y, z):
    r = z - y
    if r == 0.0:
        return 0.0 * r
    size = loss.p * abs(r) ** (loss.p - 1.0)
    return size if r > 0.0 else -size


@curvature.register(Lp)
def _(loss, y, z):
    return loss.p * (loss.p - 1.0) * abs(y - z) ** (loss.p - 2.0)


@fenchel_conjugate.register(Lp)
def _(loss, y, v):
    if loss.p == 1.0:
        return v * y if abs(v) <= 1.0 else np.inf
    return v * y + (loss.p - 1.0) * (abs(v) / loss.p) ** (loss.p / (loss.p - 1.0))


@smoothness.register(Lp)
def _(loss):
    return 2.0 if loss.p == 2.0 else np.inf


@lipschitz.register(Lp)
def _(loss):
    return 1.0 if loss.p == 1.0 else np.inf


@is_margin_loss.register(Lp)
def _(loss):
    return False
