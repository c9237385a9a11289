r"""Cubic smoothing spline by two recursions that never subtract quantities of equal sign.

The information of the data left of a point about the value :math:`f` and the derivative :math:`g` there is a quadratic
:math:`a (f + b g - u)^2 + c (g - v)^2`. Adding a datum and crossing a gap update the five numbers by sums and products
of one sign only (:math:`b \le 0` throughout). Therefore :math:`a, b, c` keep nearly all their digits even for close
points, for which the banded normal equations lose accuracy. The recursion from the right is the mirror image; both
together give the spline, its variances and its leave-one-out values.
"""

import math

import numpy as np

from surefit.core.jit import compiled

STATE = 5  # numbers stored per knot


@compiled
def see(a, b, c, u, v, weight, y):
    """Add the datum ``weight * (f - y)^2``."""
    share = a / (a + weight)
    pull = weight * share * b
    c_new = c + pull * b
    v_new = (
        (c * v + pull * (u - y)) / c_new if c_new > 0.0 else 0.0
    )  # a weighted average: a large v of small weight has little effect
    u_new = y + share * (u - y) if share < 0.5 else u + weight / (a + weight) * (y - u)
    return a + weight, share * b, c_new, u_new, v_new


@compiled
def move(a, b, c, u, v, gap, rate):
    """Cross a gap; ``rate`` is the variance that the derivative gains per unit of length."""
    grown = rate * gap
    kept = 1.0 / (1.0 + c * grown)
    middle = b - 0.5 * gap
    spread = grown * (gap * gap / 12.0 + middle * middle * kept)
    return a / (1.0 + a * spread), middle * kept - 0.5 * gap, c * kept, u - middle * (c * grown * kept) * v, v


@compiled
def start(lead, rate):
    """Return the state with value and derivative zero at a distance ``lead``; without information if that is negative."""
    if lead < 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    return 12.0 / (rate * lead**3), -0.5 * lead, 1.0 / (rate * lead), 0.0, 0.0


@compiled
def join(own, mirrored):
    """Combine with the information of the mirrored recursion."""
    (a, b, c, u, v), (a2, b2, c2, u2, v2) = own, mirrored
    total = a + a2
    if total == 0.0:
        return 0.0, 0.0, c + c2, 0.0, 0.0
    share, other = a / total, a2 / total
    apart = b + b2  # the mirrored b has the opposite sign
    pull = a * other * apart
    c_new = c + c2 + pull * apart
    v_new = (c * v - c2 * v2 + pull * (u - u2)) / c_new if c_new > 0.0 else 0.0
    return total, share * b - other * b2, c_new, share * u + other * u2, v_new


@compiled
def meet(own, mirrored, weight, y):
    """Return value, derivative, leave-one-out residual, and ``1 - h`` (h: diagonal of the hat matrix) at one knot."""
    a, b, c, u, v = join(own, mirrored)
    left_out, residual_diagonal, value = 0.0, 0.0, y
    if a > 0.0 and c > 0.0:  # otherwise the other data determine no spline, and the spline interpolates this datum
        without = u - b * v
        grip = weight * (1.0 / a + b * b / c)
        left_out, residual_diagonal = y - without, 1.0 / (1.0 + grip)
        value = (
            y - residual_diagonal * left_out
            if residual_diagonal < 0.5
            else without + grip * residual_diagonal * left_out
        )
    a, b, c, u, v = see(a, b, c, u, v, weight, y)
    return value, v, left_out, residual_diagonal


@compiled
def smooth(gaps, weights, targets, rate, lead, curve):
    """Compute the rows of ``curve``: values, derivatives, leave-one-out residuals, ``1 - h``, and one for the states.

    Both recursions run in one loop, so that their divisions overlap. Before they meet in the middle, they store their
    states in the place of the results; afterwards each reads what the other one has stored.
    """
    n = len(targets)
    a, b, c, u, v = start(lead, rate)
    a2, b2, c2, u2, v2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        k = n - 1 - i
        if i < k:
            curve[0, i], curve[1, i], curve[2, i], curve[3, i], curve[4, i] = a, b, c, u, v
            curve[0, k], curve[1, k], curve[2, k], curve[3, k], curve[4, k] = a2, b2, c2, u2, v2
        else:
            other = (a2, b2, c2, u2, v2)
            if i > k:
                first = (curve[0, k], curve[1, k], curve[2, k], curve[3, k], curve[4, k])
                curve[0, k], curve[1, k], curve[2, k], curve[3, k] = meet(first, other, weights[k], targets[k])
                other = (curve[0, i], curve[1, i], curve[2, i], curve[3, i], curve[4, i])
            curve[0, i], curve[1, i], curve[2, i], curve[3, i] = meet((a, b, c, u, v), other, weights[i], targets[i])
        if k > 0:
            a, b, c, u, v = see(a, b, c, u, v, weights[i], targets[i])
            a2, b2, c2, u2, v2 = see(a2, b2, c2, u2, v2, weights[k], targets[k])
            a, b, c, u, v = move(a, b, c, u, v, gaps[i], rate)
            a2, b2, c2, u2, v2 = move(a2, b2, c2, u2, v2, gaps[k - 1], rate)


@compiled
def likelihood(gaps, weights, targets, rate, lead):
    """Return the minimum of the penalized sum of squares and the log-determinant of the data covariance, up to a constant."""
    a, b, c, u, v = start(lead, rate)
    energy, log_det = 0.0, 0.0
    n = len(targets)
    for i in range(n):
        if a > 0.0 and c > 0.0:
            error, spread = targets[i] - (u - b * v), 1.0 / a + 1.0 / weights[i] + b * b / c
            energy += error * error / spread
            log_det += math.log(spread)
        a, b, c, u, v = see(a, b, c, u, v, weights[i], targets[i])
        if i < n - 1:
            a, b, c, u, v = move(a, b, c, u, v, gaps[i], rate)
    return energy, log_det


@compiled
def variances(knots, gaps, weights, rate, lead, points, places, result):
    """Compute the posterior variance at ``points``, where ``places`` is the number of knots at or left of each point."""
    n = len(knots)
    left, right = np.zeros((n, 3)), np.zeros((n, 3))
    a, b, c, _, _ = start(lead, rate)
    for i in range(n):
        a, b, c, _, _ = see(a, b, c, 0.0, 0.0, weights[i], 0.0)
        left[i, 0], left[i, 1], left[i, 2] = a, b, c
        if i < n - 1:
            a, b, c, _, _ = move(a, b, c, 0.0, 0.0, gaps[i], rate)
    a, b, c = 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        a, b, c, _, _ = see(a, b, c, 0.0, 0.0, weights[i], 0.0)
        right[i, 0], right[i, 1], right[i, 2] = a, b, c
        if i > 0:
            a, b, c, _, _ = move(a, b, c, 0.0, 0.0, gaps[i - 1], rate)
    for k in range(len(points)):
        i = places[k]
        if i == 0 and lead >= 0.0:
            distance = points[k] - (knots[0] - lead)
            if distance <= 0.0:
                result[k] = 0.0
                continue
            a, b, c, _, _ = start(distance, rate)
        elif i == 0:
            a, b, c = 0.0, 0.0, 0.0
        else:
            s = left[i - 1]
            a, b, c, _, _ = move(s[0], s[1], s[2], 0.0, 0.0, points[k] - knots[i - 1], rate)
        if i < n:
            s = right[i]
            a2, b2, c2, _, _ = move(s[0], s[1], s[2], 0.0, 0.0, knots[i] - points[k], rate)
            a, b, c, _, _ = join((a, b, c, 0.0, 0.0), (a2, b2, c2, 0.0, 0.0))
        result[k] = 1.0 / a + b * b / c
