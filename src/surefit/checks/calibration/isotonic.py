r"""Duality gap of isotonic regression, with partial sums of residuals as dual variables.

For values :math:`v_1 \le \dots \le v_m` at sorted scores with weights :math:`w_j` and residual sums :math:`r_j`, every
:math:`\lambda \ge 0` with :math:`\lambda_0 = \lambda_m = 0` and :math:`u_j = \lambda_j - \lambda_{j-1}` bounds the distance of
:math:`\tfrac12\sum w (v - y)^2` from its minimum over non-decreasing functions by

.. math:: \sum_j \frac{(u_j - r_j)^2}{2 w_j} + \sum_j \lambda_j (v_{j+1} - v_j),

where both sums are non-negative (theory: ``isotonic-gap``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, gamma, upper_sum


def isotonic_gap(scores: np.ndarray, hits: np.ndarray, weights: np.ndarray, values: np.ndarray) -> Bound:
    """Bound the weighted mean square of ``hits - values`` minus that of the best non-decreasing function of the scores.

    ``values`` must be a non-decreasing function of the scores, up to a few rounding errors.
    """
    used = weights > 0
    _, first, place = np.unique(scores[used], return_index=True, return_inverse=True)
    v = values[used][first]
    if np.any(np.diff(v) < 0) or not np.all(np.isfinite(v)):
        return Bound(math.inf, 0.0)
    w, hit, count = weights[used], hits[used], np.bincount(place)
    mass = np.bincount(place, w)
    off = hit - v[place]
    r = np.bincount(place, w * off)
    longest = int(count.max()) + 8
    r_rad = np.bincount(place, w * (np.abs(off) + 4 * UNIT)) * gamma(longest) * (1 + gamma(longest))
    dual = np.maximum(np.cumsum(r), 0.0)  # any non-negative numbers are feasible
    dual[-1] = 0.0
    u = np.diff(dual, prepend=0.0)
    u_rad = UNIT * np.abs(u)
    rises = np.diff(v) * (1 + 2 * UNIT)
    total = float(upper_sum(w)) * (1 - gamma(len(w) + 2))

    def bound(rounding: float) -> float:
        square = (np.abs(u - r) * (1 + 2 * UNIT) + rounding * (r_rad + u_rad)) ** 2 / mass
        slack = 2.0 * (dual[:-1] * (1 + rounding * gamma(8))) * rises
        return (upper_sum(square) * (1 + gamma(longest + 8)) + upper_sum(slack)) / total * (1 + 16 * UNIT)

    # Another evaluation may sum residuals in another order, which changes the dual variables by rounding errors.
    moved = gamma(len(w) + 8) * float(np.sum(w)) * float(upper_sum(rises)) / total
    value = bound(1.0)
    return Bound(value, bound(4.0) - value + 2 * moved)
