"""Smoothed loss over all rows, and the Fenchel-Young terms of the loss before smoothing."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.jit import compiled
from surefit.losses import fenchel_conjugate, smoothed, value


@compiled
def loss_terms(loss, y, c, z, mu):
    """Return the total, the weighted derivatives and the weighted curvatures; every kink has weight ``mu`` in the total."""
    total, g, h = 0.0, np.zeros(len(y)), np.zeros(len(y))
    for i in range(len(y)):
        if c[i] > 0.0:
            each, derivative, bend = smoothed(loss, y[i], z[i], mu / c[i])
            total += c[i] * each
            g[i] = c[i] * derivative
            h[i] = c[i] * bend
    return total, g, h


@compiled
def loss_terms_at(loss, y, c, z, mu):
    """Return the same as :func:`loss_terms`, with weight ``mu`` times that of its row for every kink; the total may be infinite."""
    total, g, h = 0.0, np.zeros(len(y)), np.zeros(len(y))
    for i in range(len(y)):
        if c[i] > 0.0:
            each, derivative, bend = smoothed(loss, y[i], z[i], mu)
            total += c[i] * each
            g[i] = c[i] * derivative
            h[i] = c[i] * bend
    return (total if total == total else math.inf), g, h


@compiled
def loss_total(loss, y, c, z, mu):
    """Return only the total of :func:`loss_terms`; infinite if it overflows."""
    total = 0.0
    for i in range(len(y)):
        if c[i] > 0.0:
            total += c[i] * smoothed(loss, y[i], z[i], mu / c[i])[0]
    return total if total == total else math.inf


@compiled
def exact_total(loss, y, c, z):
    """Return the total before smoothing."""
    total = 0.0
    for i in range(len(y)):
        if c[i] > 0.0:
            total += c[i] * value(loss, y[i], z[i])
    return total


@compiled
def fenchel_young(loss, y, c, z, theta):
    """Return the sum of ``loss + conjugate - product`` for dual variables ``theta = -c g``, each term at least zero."""
    total = 0.0
    for i in range(len(y)):
        if c[i] > 0.0:
            g = -theta[i] / c[i]
            total += c[i] * max(value(loss, y[i], z[i]) + fenchel_conjugate(loss, y[i], g) - z[i] * g, 0.0)
    return total


@compiled
def constant_root(loss, y, c):
    """Return the constant at which the sum of weighted derivatives, which increases with it, changes sign."""
    low, high, b = -math.inf, math.inf, 0.0
    for _ in range(200):
        total, bend = 0.0, 0.0
        for i in range(len(y)):
            if c[i] > 0.0:
                _, derivative, h = smoothed(loss, y[i], b, 1e-12)
                total += c[i] * derivative
                bend += c[i] * h
        if total > 0.0:
            high = b
        elif total < 0.0:
            low = b
        else:
            break
        new = b - total / bend if bend > 0.0 else math.nan
        if not low < new < high:
            if low > -math.inf and high < math.inf:
                new = 0.5 * (low + high)
            else:
                new = b + (1.0 if total < 0.0 else -1.0) * max(1.0, 2.0 * abs(b))
        if new == b or abs(new) > 1e300:
            break
        b = new
    return b
