r"""Linear smoothing spline by two recursions.

The information of the data left of a point about the value :math:`f` there is :math:`a (f - u)^2`; a datum increases
:math:`a`, and a gap decreases it. The recursion from the right is its mirror image; both together give the spline.
"""

import math

import numpy as np

from surefit.core.jit import compiled

STATE = 4  # numbers stored per knot


@compiled
def start(lead, rate):
    """Return the state with value zero at a distance ``lead``; without information if that is negative."""
    return 0.0 if lead < 0.0 else 1.0 / (rate * lead)


@compiled
def see(a, u, weight, y):
    """Add the datum ``weight * (f - y)^2``."""
    share = a / (a + weight)
    return a + weight, y + share * (u - y) if share < 0.5 else u + weight / (a + weight) * (y - u)


@compiled
def move(a, gap, rate):
    """Cross a gap; ``rate`` is the variance that the value gains per unit of length."""
    return a / (1.0 + a * rate * gap)


@compiled
def meet(own, mirrored, weight, y):
    """Return value, derivative (cubic spline only), leave-one-out residual, and ``1 - h`` at one knot."""
    (a, u), (a2, u2) = own, mirrored
    total = a + a2
    if total == 0.0:  # there is no other datum
        return y, 0.0, 0.0, 0.0
    without = (a * u + a2 * u2) / total
    left_out, residual_diagonal = y - without, total / (total + weight)
    value = (
        y - residual_diagonal * left_out if residual_diagonal < 0.5 else without + weight / (total + weight) * left_out
    )
    return value, 0.0, left_out, residual_diagonal


@compiled
def smooth(gaps, weights, targets, rate, lead, curve):
    """Compute the rows of ``curve``: values, zeros, leave-one-out residuals, and ``1 - h``; see ``cubic``."""
    n = len(targets)
    a, u = start(lead, rate), 0.0
    a2, u2 = 0.0, 0.0
    for i in range(n):
        k = n - 1 - i
        if i < k:
            curve[0, i], curve[1, i] = a, u
            curve[0, k], curve[1, k] = a2, u2
        else:
            other = (a2, u2)
            if i > k:
                first = (curve[0, k], curve[1, k])
                curve[0, k], curve[1, k], curve[2, k], curve[3, k] = meet(first, other, weights[k], targets[k])
                other = (curve[0, i], curve[1, i])
            curve[0, i], curve[1, i], curve[2, i], curve[3, i] = meet((a, u), other, weights[i], targets[i])
        if k > 0:
            a, u = see(a, u, weights[i], targets[i])
            a2, u2 = see(a2, u2, weights[k], targets[k])
            a = move(a, gaps[i], rate)
            a2 = move(a2, gaps[k - 1], rate)


@compiled
def likelihood(gaps, weights, targets, rate, lead):
    """Return the minimum of the penalized sum of squares and the log-determinant of the data covariance, up to a constant."""
    a, u = start(lead, rate), 0.0
    energy, log_det = 0.0, 0.0
    n = len(targets)
    for i in range(n):
        if a > 0.0:
            spread = 1.0 / a + 1.0 / weights[i]
            energy += (targets[i] - u) ** 2 / spread
            log_det += math.log(spread)
        a, u = see(a, u, weights[i], targets[i])
        if i < n - 1:
            a = move(a, gaps[i], rate)
    return energy, log_det


@compiled
def variances(knots, gaps, weights, rate, lead, points, places, result):
    """Compute the posterior variance at ``points``, where ``places`` is the number of knots at or left of each point."""
    n = len(knots)
    left, right = np.zeros(n), np.zeros(n)
    a = start(lead, rate)
    for i in range(n):
        a += weights[i]
        left[i] = a
        if i < n - 1:
            a = move(a, gaps[i], rate)
    a = 0.0
    for i in range(n - 1, -1, -1):
        a += weights[i]
        right[i] = a
        if i > 0:
            a = move(a, gaps[i - 1], rate)
    for k in range(len(points)):
        i = places[k]
        a = 0.0
        if i == 0 and lead >= 0.0:
            distance = points[k] - (knots[0] - lead)
            if distance <= 0.0:
                result[k] = 0.0
                continue
            a = start(distance, rate)
        elif i > 0:
            a = move(left[i - 1], points[k] - knots[i - 1], rate)
        if i < n:
            a += move(right[i], knots[i] - points[k], rate)
        result[k] = 1.0 / a
