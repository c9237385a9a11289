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


@usable("logistic")
class Logistic(NamedTuple):
    r"""Logistic loss :math:`\ln(1 + e^{-u})`, :math:`u = y z`: the negative log-likelihood of a label.

    Examples
    --------
    >>> from surefit.losses import Logistic
    >>> round(Logistic()(1.0, 0.0), 6), Logistic().gradient(1.0, 0.0)
    (0.693147, -0.5)
    """


@value.register(Logistic)
def _(loss, y, z):
    u = y * z
    return np.log1p(np.exp(-abs(u))) + max(-u, 0.0)


@slope.register(Logistic)
def _(loss, y, z):
    u = y * z
    e = np.exp(-abs(u))  # never overflows
    return -y * (e if u >= 0.0 else 1.0) / (1.0 + e)


@curvature.register(Logistic)
def _(loss, y, z):
    e = np.exp(-abs(z))
    return e / (1.0 + e) ** 2


@fenchel_conjugate.register(Logistic)
def _(loss, y, v):
    p = -v * y
    if p < 0.0 or p > 1.0:
        return np.inf
    head = p * np.log(p) if p > 0.0 else 0.0
    return head + (1.0 - p) * np.log1p(-p) if p < 1.0 else head


@smoothness.register(Logistic)
def _(loss):
    return 0.25


@lipschitz.register(Logistic)
def _(loss):
    return 1.0


@is_margin_loss.register(Logistic)
def _(loss):
    return True
