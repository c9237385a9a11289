r"""The gap theorem for the squared loss, in one pass over the rows and without an array with one entry per row.

For computed residuals :math:`\hat r_i`, within :math:`e_i` of the exact :math:`r_i = z_i - y_i`, the dual variables are defined
exactly: :math:`\theta_i = -c_i h (\hat r_i - \rho)`, where :math:`h` is the second derivative of the loss and :math:`\rho` the weighted
mean of :math:`\hat r` if the intercept is free, otherwise 0. They sum to zero. Scaled by :math:`s \le 1`, the term of row :math:`i` is
:math:`\tfrac h2 c_i (\hat r_i - s(\hat r_i - \rho) + r_i - \hat r_i)^2`, so the triangle inequality of the norm :math:`\|u\|_c^2 = \sum_i
c_i u_i^2` bounds the sum of all rows. The rounding of :math:`v_j = a_j^\top\theta` is bounded by the Cauchy-Schwarz inequality.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.gap.dual_points import Dual, Point
from surefit.checks.gap.losses import strong_convexity
from surefit.checks.gap.operators import TINY
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.squared_loops import row_terms

UNEQUAL = 1e6  # ratio of weights beyond which rows are bounded one by one, because light rows vanish in the sums


class Residuals(NamedTuple):
    """Weighted sums over the rows, with bounds on their rounding."""

    v: np.ndarray  # products of the columns with the weighted residuals, after subtraction of their mean
    v_rad: np.ndarray
    norms: np.ndarray  # of the columns, rounded up
    plain: float  # sum of squared residuals
    norm: float  # its square root, rounded up
    error: float  # bound on the norm of the differences from exact residuals
    mean: float  # of the residuals if the intercept is free; upper bound on its absolute value
    mean_rad: float
    weight: float  # square root of the sum of the weights, rounded up
    off: float  # relative rounding of the sums


def applies(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual) -> bool:
    """Return whether the squared loss of a dense matrix is to be proved at its residuals, with every column penalized."""
    simple = dual.own and penalty.radius is None and point.offset is None and not penalty.free.any()
    if not simple or strong_convexity(loss) == 0.0 or not hasattr(operator, "squared_sums"):
        return False
    return bool(point.c.max(initial=0.0) <= UNEQUAL * point.c.min(where=point.c > 0, initial=math.inf))


def residuals(operator: Any, point: Point) -> Residuals | None:
    """Return the sums over all rows, or None if one overflows."""
    w, y, c = point.w, point.y, point.c
    largest = float(c.max(initial=0.0))
    weighted = bool(largest != c.min(initial=largest))
    columns, scalars, terms, row_count = operator.squared_sums(w, point.b, y, c, weighted)
    if not weighted:
        columns, scalars = largest * columns, largest * scalars
    total, squares, sizes, targets, weight = scalars.tolist()
    if not (np.isfinite(columns).all() and np.isfinite(scalars).all() and weight > 0.0):
        return None
    k, m, (n, d) = gamma(terms + 4), gamma(row_count + 4), operator.shape
    lost = 4 * n * TINY * (1 + largest)  # by underflow, in each sum
    norms = np.sqrt(columns[2] + lost) * (1 + k)
    norm, size, target, root = (math.sqrt(part + lost) * (1 + m) for part in (squares, sizes, targets, weight))
    row = gamma(row_terms(int(np.count_nonzero(w)), d) + operator.roundings + 4)
    scores = min(size + abs(point.b) * root, norm + target)  # their sum with b, and its difference from y, are rounded
    error = row * size + 2 * UNIT * (norm + scores) + (point.b_rad + d * TINY) * root
    mean = mean_rad = 0.0
    v, size_v = columns[0], np.abs(columns[0])
    v_rad = k * norms * norm
    if point.intercept:
        mean = total / weight
        mean_rad = (m * norm / root + 4 * m * abs(mean) + lost / weight) * (1 + 8 * m)
        v, size_v = v - mean * columns[1], size_v + np.abs(mean * columns[1])
        v_rad = v_rad + abs(mean) * k * norms * root + mean_rad * (np.abs(columns[1]) + k * norms * root)
    v_rad = (v_rad + 4 * UNIT * size_v + lost * (1 + abs(mean))) * (1 + 8 * m)
    return Residuals(v, v_rad, norms, squares, norm, error * (1 + 8 * m), abs(mean), mean_rad, root, m)


def dual_products(found: Residuals, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``v`` at the dual point, its rounding, and a bound on the rounding of two evaluations, which differ in all residuals."""
    other = (1.5 * found.v_rad + 2 * found.error * found.norms) * (1 + 8 * found.off)
    return -h * found.v, h * np.array([found.v_rad, other])


def row_sums(found: Residuals, h: float, shrink: float, other: float) -> tuple[float, float, float]:
    """Return the terms of all rows: plain, with rounding, and for another evaluation, which may scale by ``other``."""
    left = 1.0 - shrink
    across = math.sqrt(shrink * (2.0 - shrink))  # of the mean, which the dual point does not contain
    plain = left**2 * found.plain + (across * found.mean * found.weight) ** 2
    near = math.hypot(left * found.norm, across * (found.mean + found.mean_rad) * found.weight) * (1 + 8 * UNIT)
    moved = 2 * (shrink - other) * (found.norm + 2 * found.error) + 4 * (found.error + found.mean_rad * found.weight)
    return 0.5 * h * plain, _half(h, near + found.error, 8 * UNIT), _half(h, near + moved, 8 * found.off)


def loss_sums(found: Residuals, h: float) -> tuple[float, float]:
    """Return the sum of the losses, rounded up, and an upper bound on that of another evaluation."""
    return _half(h, found.norm + found.error, 8 * UNIT), _half(h, found.norm + 4 * found.error, 8 * found.off)


def _half(h: float, norm: float, up: float) -> float:
    return 0.5 * h * norm**2 * (1 + up)
