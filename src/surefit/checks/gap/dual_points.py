r"""Dual points: derivatives at the scores or a witness, moved so that equality constraints hold exactly.

An intercept requires :math:`\sum_i\theta_i = 0`, and a free column requires :math:`v_j = 0`. If a quadratic penalty is
so small that the rounding of :math:`v` matters, :math:`v_j = l_{2,j} w_j` is enforced exactly on every column, so that
the penalty's terms are zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.gap import rows
from surefit.checks.gap.equalities import LARGEST, orthogonal, projected
from surefit.checks.gap.losses import has_kinks, stepped_slopes
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.rows import side_sums
from surefit.core.jit import compiled

JOINS = 8  # times that columns may be added to the exactly satisfied ones, for positive coefficients


class Point(NamedTuple):
    """A fitted point and its problem: targets, weights, coefficients, intercept."""

    y: np.ndarray
    c: np.ndarray
    w: np.ndarray
    b: float
    intercept: bool  # whether b is free
    b_rad: float = 0.0  # rounding of b and of the targets, if both were shifted
    offset: np.ndarray | None = None  # known part of the scores


class Dual(NamedTuple):
    """Construction of the dual point: from a witness, or from the scores (with kinks smoothed over ``width``)."""

    witness: np.ndarray | None = None
    width: float = 0.0
    multiplier: float | None = None  # of a radius
    scores: Enclosed | None = None  # of another point, whose derivatives are used
    step: Enclosed | None = None  # of the scores; derivatives are taken after it, with kinks smoothed by barriers
    barrier: float = 0.0  # weight of these
    given: tuple[np.ndarray, np.ndarray] | None = None  # indices of rows with given dual variables, and their values

    @property
    def own(self) -> bool:
        """Whether the dual point consists of the derivatives at the scores of the fitted point."""
        return self.witness is None and self.scores is None and self.step is None and self.width == 0.0


class Free(NamedTuple):
    """Unpenalized functions in a kernel's space: their values as columns, their coefficients, and their sum."""

    columns: Any  # an operator
    coef: np.ndarray
    values: Enclosed


class Terms(NamedTuple):
    """A dual point that is feasible up to a radius."""

    theta: np.ndarray
    rad: np.ndarray  # a feasible point lies within this radius
    slip: np.ndarray  # distance by which another evaluation may differ
    exact: np.ndarray  # coordinates whose terms are exactly zero
    boxed: bool = False  # free columns are dependent, so only coefficients in a box are considered


def slopes_at(loss: Any, point: Point, dual: Dual, z: Enclosed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the dual variables, bounds on their differences in another evaluation, and second derivatives."""
    y, c = point.y, point.c
    z = z if dual.scores is None else dual.scores
    if dual.witness is not None:
        g = rows.clipped(loss, y, np.asarray(dual.witness, dtype=np.float64))
        return g, np.zeros(len(y)), rows.slopes(loss, y, z.mid, 0.0)[1]
    if dual.step is not None and dual.barrier > 0.0 and has_kinks(loss):
        return replaced(loss, y, stepped(loss, y, z, dual.step, dual.barrier), dual.given, 0)
    offset, more = 0.0, 0.0
    if point.intercept and dual.width == 0.0 and not has_kinks(loss):
        offset = rows.best_offset(loss, y, c, z.mid)
    g, bends = rows.slopes(loss, y, z.mid + offset, dual.width)
    if offset != 0.0:  # two roots differ by the rounding of the scores and of their equation
        steep = float(c @ bends)
        more = 2 * float(np.max(z.rad[c > 0], initial=0.0)) + 4 * UNIT * abs(offset)
        rounding = (16 + len(y) / 128) * UNIT * upper_sum(c * np.abs(g))
        more += rounding / steep if steep > 0 else abs(offset)
    return g, rows.slope_moves(loss, y, z.mid + offset, dual.width, g, 2 * z.rad + more), bends


def stepped(
    loss: Any, y: Any, z: Enclosed, step: Enclosed, barrier: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the result of :func:`slopes_at` for the dual variables after an interior-point step."""
    g = stepped_slopes(loss, y, z.mid, step.mid, barrier)
    slip = 8 * UNIT * np.abs(g)
    for sign in (1, -1):  # possible scores and steps of another evaluation
        for turn in (1, -1):
            moved = stepped_slopes(loss, y, z.mid + 2 * sign * z.rad, step.mid + 2 * turn * step.rad, barrier)
            slip = np.maximum(slip, np.abs(moved - g) * (1 + 8 * UNIT) + 8 * UNIT * np.abs(g))
    return g, slip, rows.slopes(loss, y, z.mid, 0.0)[1]


def replaced(
    loss: Any, y: Any, start: tuple[Any, ...], given: Any, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dual variables with the given ones inserted; ``first`` is the index of the first row."""
    g, slip, bends = start
    if given is not None:
        inside = (given[0] >= first) & (given[0] < first + len(y))
        where = np.asarray(given[0][inside], dtype=np.int64) - first
        g[where] = rows.clipped(loss, y[where], given[1][inside])
        slip[where] = 0.0
    return g, slip, bends


def given_rows(witness: dict[str, np.ndarray], k: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows of a witness with given dual variables, and these variables, or None."""
    if f"rows_{k}" not in witness:
        return None
    which, values = np.asarray(witness[f"rows_{k}"]), np.asarray(witness[f"slopes_{k}"], dtype=np.float64)
    if which.dtype.kind != "i" or which.shape != values.shape or which.ndim != 1:
        raise ValueError("rows with given dual variables must be integers, with one number each")
    return which, values


@compiled
def balanced(theta: Any, intercept: Any) -> tuple[Any, Any]:
    """Scale the positive or negative dual variables so that the sum is zero, in place; the exact point is within the radius.

    All dual variables are scaled by slightly less than 1, so that they stay in their boxes despite rounded weights.
    """
    rad = np.empty(len(theta))
    for i in range(len(theta)):
        theta[i] *= 1.0 - 16.0 * UNIT
        rad[i] = 2.0 * UNIT * abs(theta[i])
    if intercept:
        up, down = side_sums(theta)
        if up != -down:
            larger, ratio = up > -down, min(up, -down) / max(up, -down)
            for i in range(len(theta)):
                if (theta[i] > 0.0) == larger:
                    theta[i] *= ratio
                    rad[i] += 10.0 * UNIT * abs(theta[i])
    return theta, rad


def dual_point(operator: Any, loss: Any, penalty: Penalty, point: Point, start: tuple[Any, ...]) -> Terms:
    """Return a dual point from the derivatives; if free columns are dependent, coefficients are restricted to a box."""
    g, slip, bends = start
    c, free = point.c, penalty.free
    theta = np.where(c > 0, -c * g, 0.0)
    if not free.any():
        theta, rad = balanced(theta, point.intercept)
        return Terms(theta, rad, np.multiply(c, slip, out=slip), free)  # in place: nobody reads the derivatives again
    joined = free & (point.w != 0) if penalty.positive else free  # v <= 0 suffices for a positive coefficient at zero
    product = operator.transposed(theta, (np.zeros(len(c)), c * slip))
    for _ in range(JOINS):
        terms = met(operator, loss, penalty, point, start, joined, product)
        if terms is None:
            break
        if not penalty.positive:
            return terms
        v, radii = operator.transposed(terms.theta, (terms.rad,))
        more = free & ~joined & (v + radii[0] > 0)
        if not more.any():
            return terms
        joined = joined | more
    moved, which = theta, np.flatnonzero(joined)
    if len(c) * (len(which) + 1) <= LARGEST:
        columns = operator.columns(which, np.arange(len(c)))
        columns = np.column_stack([columns, np.ones(len(c))]) if point.intercept else columns
        room = np.minimum(rows.room(loss, point.y, g), 1.0)
        moved = projected(columns, theta, c * bends if np.any(bends > 0) else c * room)
    g = rows.clipped(loss, point.y, np.divide(-moved, c, out=np.zeros(len(c)), where=c > 0))
    theta, rad = balanced(np.where(c > 0, -c * g, 0.0), point.intercept)
    return Terms(theta, rad, c * slip, np.zeros(len(free), dtype=bool), True)


def kernel_dual_point(loss: Any, strength: float, point: Point, dual: Dual, z: Enclosed, free: Free | None) -> Terms:
    """Return a dual point in a kernel's space: ``strength * beta`` or a witness, orthogonal to the free functions."""
    y, c = point.y, point.c
    given = np.divide(-strength * point.w, c, out=np.zeros(len(c)), where=c > 0)
    given = given if dual.witness is None else np.asarray(dual.witness, dtype=np.float64)
    g = rows.clipped(loss, y, given)
    if free is None:
        theta, rad = balanced(np.where(c > 0, -c * g, 0.0), point.intercept)
        return Terms(theta, rad, rad, np.zeros(0, dtype=bool))
    none, start = np.zeros(len(free.coef)), (g, np.zeros(len(c)), rows.slopes(loss, y, z.mid, 0.0)[1])
    inner = Point(y, c, free.coef, 0.0, False)
    terms = met(free.columns, loss, Penalty(none, none), inner, start)
    return Terms(0.0 * c, 0.0 * c, 0.0 * c, none > 0) if terms is None else terms  # zero is always orthogonal


def met(
    operator: Any,
    loss: Any,
    penalty: Penalty,
    point: Point,
    start: tuple[Any, ...],
    columns: Any = None,
    product: Any = None,
) -> Terms | None:
    """Return a dual point with ``v = l2 w`` exactly on some columns (default: all), whose terms are then zero.

    Return None if the columns are too dependent or the point leaves its domain.
    """
    (g, slip, bends), c = start, point.c
    used, slip = c > 0, c * slip
    theta = np.where(used, -c * g, 0.0)
    columns = ~penalty.excluded if columns is None else columns
    which = columns.nonzero()[0]
    if len(which) + point.intercept == 0:
        theta, rad = balanced(theta, False)
        return Terms(theta, rad + 2 * UNIT * np.abs(theta), slip, columns)
    if product is None:
        product = operator.transposed(theta, (np.zeros(len(c)), slip))
    wanted = penalty.l2[which] * point.w[which]
    v, radii = product[0][which] - wanted, product[1][:, which]
    radii = radii + 2 * UNIT * (np.abs(v) + np.abs(wanted))
    if point.intercept:  # the sum of theta, its rounding, and a bound on the difference in another evaluation
        up, down = rows.side_sums(theta)
        rounding = 4 * UNIT * (up - down)
        joined = np.empty((3, len(which) + 1))
        joined[0, :-1], joined[1:, :-1] = v, radii
        joined[:, -1] = up + down, rounding, rounding + upper_sum(slip)
        v, radii = joined[0], joined[1:]
    for by_bends in (True, False):
        D = c * bends if by_bends else c * np.minimum(rows.room(loss, point.y, g), 1.0)
        frame = operator.frame(which, point.intercept, D)
        if frame is None:
            continue
        theta_, rad, other = orthogonal(frame, theta, v, radii, slip)
        at = np.divide(-theta_, c, out=np.zeros(len(c)), where=used)
        if (rad[used] <= c[used] * rows.room(loss, point.y, at)[used]).all():
            return Terms(theta_, rad + 2 * UNIT * np.abs(theta_), other, columns)
    return None
