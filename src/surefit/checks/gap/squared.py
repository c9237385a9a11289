r"""The gap theorem for the squared loss, in one pass over the rows and without an array with one entry per row.

For computed residuals :math:`\hat r_i`, within :math:`e_i` of the exact :math:`r_i = z_i - y_i`, the dual variables are defined
exactly: :math:`\theta_i = -c_i h (\hat r_i - \rho)`, where :math:`h` is the second derivative of the loss and :math:`\rho` the weighted
mean of :math:`\hat r` if the intercept is free, otherwise 0. They sum to zero. Scaled by :math:`s \le 1`, the term of row :math:`i` is
:math:`\tfrac h2 c_i (\hat r_i - s(\hat r_i - \rho) + r_i - \hat r_i)^2`, so the triangle inequality of the norm :math:`\|u\|_c^2 = \sum_i
c_i u_i^2` bounds the sum of all rows. The rounding of :math:`v_j = a_j^\top\theta` is bounded by the Cauchy-Schwarz inequality.

Without a penalty the gap is :math:`\tfrac h2 \|\Pi r\|_c^2` for the projection :math:`\Pi` on the columns and the constant. With nearly
orthonormal combinations :math:`B` of them, :math:`\|\Pi r\|_c^2 \le \|B^\top r\|^2 / \lambda_{\min}(B^\top B)`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, frobenius, gamma, length
from surefit.checks.gap.column_loops import column_bounds, scaled_products
from surefit.checks.gap.dual_points import Dual, Point
from surefit.checks.gap.equalities import Frame
from surefit.checks.gap.losses import strong_convexity
from surefit.checks.gap.operators import TINY
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.squared_loops import row_terms, weight_range
from surefit.core.jit import quietly

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


def applies(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual) -> tuple[float, float] | None:
    """Return the range of weights if the squared loss of a dense matrix is to be proved at its residuals, all columns penalized or none."""
    simple = dual.own and penalty.radius is None and point.offset is None and (not penalty.any_free or penalty.nothing)
    if not simple or strong_convexity(loss) == 0.0 or not hasattr(operator, "squared_sums"):
        return None
    smallest, positive, largest = weight_range(point.c)
    return (smallest, largest) if largest <= UNEQUAL * positive else None


def residuals(operator: Any, point: Point, weights: tuple[float, float]) -> Residuals | None:
    """Return the sums over all rows, whose weights have this range, or None if one overflows."""
    w, (smallest, largest) = point.w, weights
    weighted = smallest != largest
    columns, scalars, terms, row_count = operator.squared_sums(w, point.b, point.y, point.c, weighted)
    if not weighted:
        columns, scalars = largest * columns, largest * scalars
    total, squares, sizes, targets, weight = scalars.tolist()
    if not (math.isfinite(total + squares + sizes + targets + weight) and weight > 0.0):
        return None
    k, m, (n, d) = gamma(terms + 4), gamma(row_count + 4), operator.shape
    lost = 4 * n * TINY * (1 + largest)  # by underflow, in each sum
    norm, size, target, root = (math.sqrt(part + lost) * (1 + m) for part in (squares, sizes, targets, weight))
    row = gamma(row_terms(int(np.count_nonzero(w)), d) + operator.roundings + 4)
    scores = min(size + abs(point.b) * root, norm + target)  # their sum with b, and its difference from y, are rounded
    error = row * size + 2 * UNIT * (norm + scores) + (point.b_rad + d * TINY) * root
    mean = mean_rad = 0.0
    if point.intercept:
        mean = total / weight
        mean_rad = (m * norm / root + 4 * m * abs(mean) + lost / weight) * (1 + 8 * m)
    with quietly(all="ignore"):
        v, v_rad, norms, finite = column_bounds(columns, norm, root, mean, mean_rad, k, m, lost)
    if not finite:
        return None
    return Residuals(v, v_rad, norms, squares, norm, error * (1 + 8 * m), abs(mean), mean_rad, root, m)


def dual_products(found: Residuals, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``v`` at the dual point, its rounding, and a bound on the rounding of two evaluations, which differ in all residuals."""
    return scaled_products(found.v, found.v_rad, found.norms, found.error, found.off, h)


def projected_sums(found: Residuals, frame: Frame, h: float) -> tuple[float, float, float]:
    """Return the gap without a penalty: plain, with rounding, and for another evaluation; ``frame`` is one of all columns and rows."""
    v, d, root = found.v, len(found.v), math.sqrt(frame.least)
    T, scale = frame.T[:d], frame.scale[:d]  # residuals minus their mean are orthogonal to the constant
    t = (v / scale) @ T
    t_rad = ((found.v_rad + gamma(d + 6) * np.abs(v)) / scale) @ np.abs(T) * (1 + 1e-9)
    near = length(np.abs(t) + t_rad) / root * (1 + 8 * UNIT)
    level, level_off = found.mean * found.weight, found.mean_rad * found.weight
    upper = math.hypot(near, (level + level_off) * (1 + 4 * UNIT)) * (1 + 8 * UNIT) + found.error
    # Another evaluation differs in all residuals, and has another frame, whose largest eigenvalue is at most 2 - least.
    moved = math.sqrt(2 - frame.least) * (near + 2 * found.error) + 4 * frobenius(t_rad)
    other = math.hypot(moved / root, level + 4 * level_off + 2 * found.error) + 4 * found.error
    return 0.5 * h * (frobenius(t) ** 2 + level**2), _half(h, upper, 8 * UNIT), _half(h, other, 8 * found.off)


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
