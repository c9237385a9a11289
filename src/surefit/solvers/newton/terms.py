r"""Losses for Newton's method: value, derivative and curvature in one call, and the Fenchel-Young term.

Losses with kinks are replaced by a quadratic within a region of width :math:`h` around each kink and are unchanged elsewhere. The
derivative of the smoothed loss is a dual point of the *original* problem, whose gap decreases like :math:`h^2`.
"""

from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.losses import Logistic, Squared, SquaredEpsilonInsensitive, SquaredHinge


@generic
def score_terms(loss, y, z):
    """Return (value, derivative, curvature) in ``z``."""


@generic
def young(loss, y, z, v):
    """Return ``value(z) + conjugate(v) - z v`` of the loss before smoothing, for a subgradient ``v``."""


class SmoothedHinge(NamedTuple):
    r"""Hinge :math:`(1 - u)_+`, quadratic for :math:`|1 - u| < h / 2`."""

    width: float


class SmoothedTube(NamedTuple):
    r"""Epsilon-insensitive loss :math:`(|r| - \epsilon)_+`, quadratic within :math:`h / 2` of each edge of the tube."""

    epsilon: float
    width: float


@score_terms.register(Logistic)
def _(loss, y, z):
    u = y * z
    e = np.exp(-abs(u))
    q = 1.0 / (1.0 + e)
    p = e * q if u >= 0.0 else q  # probability of the other label
    return np.log1p(e) + max(-u, 0.0), -y * p, e * q * q


@young.register(Logistic)
def _(loss, y, z, v):
    # relative entropy of the label under v and under z: non-negative, zero at the derivative
    p = min(max(-v * y, 0.0), 1.0)
    u = y * z
    soft = np.log1p(np.exp(-abs(u)))
    gain, loss_of_label = max(u, 0.0) + soft, max(-u, 0.0) + soft
    total = p * gain + (1.0 - p) * loss_of_label
    if p > 0.0:
        total += p * np.log(p)
    if p < 1.0:
        total += (1.0 - p) * np.log1p(-p)
    return max(total, 0.0)


@score_terms.register(Squared)
def _(loss, y, z):
    return 0.5 * (z - y) * (z - y), z - y, 1.0


@young.register(Squared)
def _(loss, y, z, v):
    return 0.5 * (z - y - v) * (z - y - v)


@score_terms.register(SquaredHinge)
def _(loss, y, z):
    slack = 1.0 - y * z
    if slack <= 0.0:
        return 0.0, 0.0, 0.0
    return slack * slack, -2.0 * y * slack, 2.0


@young.register(SquaredHinge)
def _(loss, y, z, v):
    slack = 1.0 - y * z
    p = max(-v * y, 0.0)
    off = max(slack, 0.0) - 0.5 * p
    return off * off + p * max(-slack, 0.0)


@score_terms.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    r = z - y
    beyond = abs(r) - loss.epsilon
    if beyond <= 0.0:
        return 0.0, 0.0, 0.0
    return beyond * beyond, 2.0 * beyond * (1.0 if r > 0.0 else -1.0), 2.0


@young.register(SquaredEpsilonInsensitive)
def _(loss, y, z, v):
    beyond = max(abs(z - y) - loss.epsilon, 0.0)
    return max(beyond * beyond + loss.epsilon * abs(v) + 0.25 * v * v - (z - y) * v, 0.0)


@score_terms.register(SmoothedHinge)
def _(loss, y, z):
    slack = 1.0 - y * z
    half = 0.5 * loss.width
    if slack <= -half:
        return 0.0, 0.0, 0.0
    if slack >= half:
        return slack, -y, 0.0
    part = (slack + half) / loss.width
    return 0.5 * (slack + half) * part, -y * part, 1.0 / loss.width


@young.register(SmoothedHinge)
def _(loss, y, z, v):
    slack = 1.0 - y * z
    p = min(max(-v * y, 0.0), 1.0)
    return (1.0 - p) * slack if slack > 0.0 else -p * slack


@score_terms.register(SmoothedTube)
def _(loss, y, z):
    half = 0.5 * loss.width
    total, derivative, curvature = 0.0, 0.0, 0.0
    for side in (-1.0, 1.0):
        slack = side * (z - y) - loss.epsilon
        if slack >= half:
            total += slack
            derivative += side
        elif slack > -half:
            part = (slack + half) / loss.width
            total += 0.5 * (slack + half) * part
            derivative += side * part
            curvature += 1.0 / loss.width
    return total, derivative, curvature


@young.register(SmoothedTube)
def _(loss, y, z, v):
    r = z - y
    return max(max(abs(r) - loss.epsilon, 0.0) + loss.epsilon * abs(v) - r * v, 0.0)
