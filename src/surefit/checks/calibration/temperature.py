r"""Gap of temperature scaling: the derivative of the loss times the width of an interval that contains the optimum.

:math:`L(\beta) = \sum_i c_i [\ln \sum_k e^{\beta s_{ik}} - \beta s_{iy_i}]` is convex. If :math:`L'` is not positive at one end of an
interval and not negative at the other, the interval contains a minimizer, and :math:`L(\beta) - \min L \le |L'(\beta)|` times the
distance of :math:`\beta` from the farther end.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, gamma, upper_sum

FIRST = 2.0**-40  # relative half-width of the first interval
MOST_DOUBLINGS = 64
TINY = 1e-290  # exponentials that underflow are smaller than this


def temperature_gap(
    scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, beta: float, ends: tuple[float, float]
) -> Bound:
    """Bound the weighted mean of the loss at ``beta`` minus its minimum over the interval ``ends``."""
    if not ends[0] <= beta <= ends[1]:
        return Bound(math.inf, 0.0)
    away = scores - scores[np.arange(len(codes)), codes][:, None]
    c = weights / float(np.sum(weights))
    here, rad = _derivative(away, c, beta)
    width = FIRST * beta
    for _ in range(MOST_DOUBLINGS):
        left, right = max(ends[0], beta - width), min(ends[1], beta + width)
        low, high = _derivative(away, c, left), _derivative(away, c, right)
        if (left == ends[0] or low[0] + low[1] <= 0) and (right == ends[1] or high[0] - high[1] >= 0):
            break
        width *= 2
    else:
        return Bound(math.inf, 0.0)
    # At an end of the interval, only a derivative that points inward contributes to the gap.
    down = max(here + rad, 0.0) * (beta - left)
    up = max(rad - here, 0.0) * (right - beta)
    value = max(down, up) * (1 + 8 * UNIT)
    wide = max(max(here + 3 * rad, 0.0) * (beta - left), max(3 * rad - here, 0.0) * (right - beta)) * 2.0
    return Bound(value, wide - value + 8 * UNIT * value)


def _derivative(away: np.ndarray, c: np.ndarray, beta: float) -> tuple[float, float]:
    """Return the derivative and its rounding error; ``away`` contains the scores minus that of the true class."""
    z = beta * away
    top = z.max(axis=1, keepdims=True)
    e = np.exp(z - top)
    total = e.sum(axis=1)
    K = away.shape[1]
    size = np.abs(away) * e
    parts = (away * e).sum(axis=1) / total
    # relative rounding of an exponential: its argument has up to four operations and inexact scores
    loose = 8 * UNIT * (np.abs(z) + np.abs(top) + 1.0)
    rad = ((size * (loose + gamma(K + 8))).sum(axis=1) / total) + np.abs(parts) * (
        (e * (loose + gamma(K + 8))).sum(axis=1) / total
    )
    rad = (rad + TINY * np.abs(away).sum(axis=1)) * (1 + 1e-9)
    terms = c * parts
    return float(np.sum(terms)), (upper_sum(c * rad) + gamma(len(c) + 8) * upper_sum(np.abs(terms))) * (1 + 1e-9)
