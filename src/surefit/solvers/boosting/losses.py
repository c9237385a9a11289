r"""Losses for gradient boosting: value, derivative and curvature per row, an initial constant, and leaf values.

Losses of :mod:`surefit.losses` are used directly. Where a curvature vanishes, it is replaced by an upper bound, so that a Newton step
stays finite. This module adds Poisson and gamma deviances and multiclass cross-entropy, where the score is the logarithm of the mean or
of the probability.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, tree_sum
from surefit.losses import Absolute, ExponentialLoss, Huber, Logistic, Squared, slope, value

ROWS = 2**17  # in a block of derivatives; a multiple of 256
POWERS = np.ldexp(1.0, np.arange(-1024, 1))


class Pinball(NamedTuple):
    r"""Quantile loss :math:`\max(q (y - z), (q - 1)(y - z))`; its minimizer is the q-quantile."""

    quantile: float = 0.5


class PoissonDeviance(NamedTuple):
    r"""Poisson loss :math:`e^z - y z`, for counts with mean :math:`e^z`."""


class GammaDeviance(NamedTuple):
    r"""Gamma loss :math:`y e^{-z} + z`, for positive targets with mean :math:`e^z`."""


class CrossEntropy(NamedTuple):
    r"""Multiclass cross-entropy, the negative log-likelihood of a label: :math:`\ln \sum_k e^{z_k} - z_y`."""

    n_classes: int


@generic
def newton(loss, y, z):
    """Return value, derivative and curvature in ``z`` (or an upper bound on the curvature where it may vanish)."""


@generic
def start(loss, y, s):
    """Return the best constant score (one per class)."""


@newton.register(Squared)
def _(loss, y, z):
    return 0.5 * (y - z) ** 2, z - y, 1.0


@newton.register(Absolute)
def _(loss, y, z):
    return value(loss, y, z), slope(loss, y, z), 1.0


@newton.register(Huber)
def _(loss, y, z):
    return value(loss, y, z), slope(loss, y, z), 1.0


@newton.register(Pinball)
def _(loss, y, z):
    r = y - z
    return max(loss.quantile * r, (loss.quantile - 1.0) * r), (-loss.quantile if r >= 0 else 1.0 - loss.quantile), 1.0


@newton.register(PoissonDeviance)
def _(loss, y, z):
    e = np.exp(z)
    return e - y * z, e - y, e


@newton.register(GammaDeviance)
def _(loss, y, z):
    e = y * np.exp(-z)
    return e + z, 1.0 - e, e


@newton.register(ExponentialLoss)
def _(loss, y, z):
    e = np.exp(-y * z)
    return e, -y * e, e


def gradients(loss, y: np.ndarray, z: np.ndarray, s: np.ndarray, g: np.ndarray, h: np.ndarray, n_jobs=None) -> tuple:
    """Compute weighted derivatives and curvatures; return the weighted loss, and bounds on derivatives and curvatures."""
    if isinstance(loss, CrossEntropy):
        return _cross_entropy(y, z, s, g, h)
    top = float(np.max(s))
    even = float(np.min(s)) == top

    def block(start: int, stop: int) -> tuple:
        own = y[start:stop], z[0, start:stop], s[start:stop], g[0, start:stop], h[0, start:stop]
        if isinstance(loss, Logistic):
            return _logistic(*own, POWERS, even), top, top / 4
        return _pointwise(loss, *own)

    totals, steepest, sharpest = zip(*map_blocks(block, len(y), ROWS, n_jobs), strict=True)
    return tree_sum(totals), max(steepest), max(sharpest)


def mean_loss(loss, y: np.ndarray, z: np.ndarray, s: np.ndarray, space: tuple | None = None, n_jobs=None) -> float:
    """Return the weighted mean loss at scores ``z``; ``space`` is memory of the size of two scores."""
    g, h = (np.empty_like(z), np.empty_like(z)) if space is None else space
    return gradients(loss, y, z, s, g, h, n_jobs)[0] / float(np.sum(s))


def renews_leaves(loss) -> float | None:
    """Return the quantile of the residuals that is the best leaf value, or None if a Newton step is used."""
    return {Absolute: 0.5, Pinball: getattr(loss, "quantile", 0.5)}.get(type(loss))


def start_quantile(loss) -> float | None:
    """Return the quantile of the targets that is the best constant score, or None if it follows from their mean."""
    return 0.5 if isinstance(loss, Huber) else renews_leaves(loss)


@compiled
def _pointwise(loss, y, z, s, g, h):
    total = steepest = sharpest = 0.0
    for i in range(len(y)):
        v, a, b = newton(loss, y[i], z[i])
        g[i], h[i] = s[i] * a, s[i] * b
        total += s[i] * v
        steepest, sharpest = max(steepest, abs(g[i])), max(sharpest, h[i])
    return total, steepest, sharpest


@compiled(relaxed=True)
def _logistic(y, z, s, g, h, powers, even):
    """Compute the logistic loss for labels 0 and 1; return the weighted loss.

    Blocks of 256 rows are processed in simple loops that are vectorized. Exponentials use a polynomial on [-ln 2 / 2,
    ln 2 / 2] and a table of powers of two. For equal weights, one logarithm is computed for the product of 256 factors
    1 + e.
    """
    total = 0.0
    e = np.empty(256)
    for first in range(0, len(y), 256):
        count = min(256, len(y) - first)
        yb, zb, sb = y[first : first + count], z[first : first + count], s[first : first + count]
        gb, hb = g[first : first + count], h[first : first + count]
        for i in range(count):
            x = -abs(zb[i])
            x = x if x > -700.0 else -700.0
            k = np.floor(x * 1.4426950408889634 + 0.5)
            r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
            v = 1 / 3628800 + r / 39916800
            v = 1 / 40320 + r * (1 / 362880 + r * v)
            v = 1 / 720 + r * (1 / 5040 + r * v)
            v = 1 / 24 + r * (1 / 120 + r * v)
            v = 1 / 2 + r * (1 / 6 + r * v)
            e[i] = (1.0 + r * (1.0 + r * v)) * powers[np.int64(k) + 1024]
        factors, linear = 1.0, 0.0
        for i in range(count):
            low = e[i] / (1.0 + e[i])  # the smaller of the two probabilities
            p = 1.0 - low if zb[i] >= 0.0 else low
            gb[i] = sb[i] * (p - yb[i])
            hb[i] = sb[i] * (low * (1.0 - low))
            u = (1.0 - 2.0 * yb[i]) * zb[i]
            linear += sb[i] * (u if u > 0.0 else 0.0)
            factors *= 1.0 + e[i]
        total += linear
        if even:
            total += sb[0] * math.log(factors)
        else:
            for i in range(count):
                total += sb[i] * math.log1p(e[i])
    return total


@compiled
def _cross_entropy(y, z, s, g, h):
    total = steepest = sharpest = 0.0
    K = len(z)
    p = np.empty(K)
    for i in range(len(y)):
        top = z[0, i]
        for k in range(1, K):
            top = max(top, z[k, i])
        norm = 0.0
        for k in range(K):
            p[k] = np.exp(z[k, i] - top)
            norm += p[k]
        own = int(y[i])
        total += s[i] * (math.log(norm) + top - z[own, i])
        for k in range(K):
            q = p[k] / norm
            g[k, i] = s[i] * (q - (1.0 if k == own else 0.0))
            h[k, i] = s[i] * (q * (1.0 - q))
            steepest, sharpest = max(steepest, abs(g[k, i])), max(sharpest, h[k, i])
    return total, steepest, sharpest


def weighted_quantile(values: np.ndarray, s: np.ndarray, q: float) -> float:
    """Return the midpoint of the set of minimizers: the mean of the lower and upper q-quantile."""
    order = np.argsort(values)
    values, reached = values[order], np.cumsum(s[order])
    wanted = q * reached[-1]
    low = min(int(np.searchsorted(reached, wanted * (1 - 1e-14))), len(values) - 1)
    high = min(int(np.searchsorted(reached, wanted * (1 + 1e-14), side="right")), len(values) - 1)
    return float(values[low] + values[high]) / 2


@start.register(Squared)
def _(loss, y, s):
    return np.array([np.average(y, weights=s)])


@start.register(Absolute)
def _(loss, y, s):
    return np.array([weighted_quantile(y, s, 0.5)])


@start.register(Huber)
def _(loss, y, s):
    return np.array([weighted_quantile(y, s, 0.5)])


@start.register(Pinball)
def _(loss, y, s):
    return np.array([weighted_quantile(y, s, float(loss.quantile))])


@start.register(PoissonDeviance)
def _(loss, y, s):
    return np.array([math.log(np.average(y, weights=s))])


@start.register(GammaDeviance)
def _(loss, y, s):
    return np.array([math.log(np.average(y, weights=s))])


@start.register(Logistic)
def _(loss, y, s):
    p = min(max(float(np.average(y, weights=s)), 1e-15), 1 - 1e-15)
    return np.array([math.log(p / (1 - p))])


@start.register(ExponentialLoss)
def _(loss, y, s):
    p = min(max(float(np.average(y > 0, weights=s)), 1e-15), 1 - 1e-15)
    return np.array([0.5 * math.log(p / (1 - p))])


@start.register(CrossEntropy)
def _(loss, y, s):
    p = np.bincount(y.astype(np.int64), weights=s, minlength=loss.n_classes) / np.sum(s)
    scores = np.log(np.maximum(p, np.finfo(np.float64).eps))
    return scores - scores.mean()
