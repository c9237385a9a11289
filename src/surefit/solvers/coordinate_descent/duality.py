r"""Duality gap of penalized least squares, as a sum of non-negative terms.

With unit-length columns, weights that sum to one, coefficients :math:`u`, residual :math:`r`, and any :math:`\theta` that is
orthogonal to the unpenalized columns (and to the constant, if the intercept is free), let :math:`v_j = x_j^\top \theta`. Then

.. math:: P - D(c\theta) = \tfrac12 \|r - c\theta\|^2 + \sum_j \left[ \Omega_j(u_j) + \Omega_j^*(c v_j) - u_j c v_j \right].

There is no cancellation, so a gap of :math:`10^{-15}` is as accurate as one of :math:`10^{-3}` (theory: ``fenchel-gap``).
"""

import numpy as np

from surefit.core.jit import compiled


@compiled
def duality_gap(v, u, slopes, curvatures, positive, squares, unexplained):
    """Return the gap and the scale ``c`` of the dual point.

    ``squares`` is the mean square of ``theta``, ``unexplained`` half that of ``residual - theta``. Two scales are tried: the best one
    that keeps ``|c v_j| <= slopes[j]``, and 1 if curvature makes it feasible. The better one is returned.
    """
    limit = np.inf
    overlap = 0.0
    curved = True
    for j in range(len(v)):
        if slopes[j] == 0.0 and curvatures[j] == 0.0:
            continue  # unpenalized: theta is orthogonal to the column
        overlap += u[j] * v[j]
        size = v[j] if positive else abs(v[j])
        if slopes[j] > 0.0 and size > 0.0:
            limit = min(limit, slopes[j] / size)
        if curvatures[j] == 0.0 and size > slopes[j] > 0.0:
            curved = False
    best = 1.0 + overlap / squares if squares > 0.0 else 1.0
    feasible = min(max(best, 0.0 if positive else -limit), limit)
    gap = _gap_at(feasible, v, u, slopes, curvatures, positive, squares, unexplained)
    if curved and feasible != 1.0:
        other = _gap_at(1.0, v, u, slopes, curvatures, positive, squares, unexplained)
        if other < gap:
            return other, 1.0
    return gap, feasible


@compiled
def _gap_at(c, v, u, slopes, curvatures, positive, squares, unexplained):
    total = 0.5 * (1.0 - c) * (1.0 - c) * squares + unexplained
    for j in range(len(v)):
        slope, curvature, size = slopes[j], curvatures[j], abs(u[j])
        if slope == 0.0 and curvature == 0.0:
            continue
        along = c * v[j] if u[j] >= 0.0 else -c * v[j]
        if along > slope and curvature > 0.0:  # a complete square: no cancellation
            miss = size - (along - slope) / curvature
            total += 0.5 * curvature * miss * miss
            continue
        if size > 0.0:
            total += max(slope - along, 0.0) * size + 0.5 * curvature * size * size
        beyond = (c * v[j] if positive else abs(c * v[j])) - slope
        if beyond > 0.0 and curvature > 0.0:
            total += 0.5 * beyond * beyond / curvature
    return total
