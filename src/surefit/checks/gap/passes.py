"""Functions of one partition for the gap theorem: scores, dual variables and terms of its rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, length, upper_sum
from surefit.checks.gap import rows as loops
from surefit.checks.gap.assembly import Gap
from surefit.checks.gap.consequences import certain_labels
from surefit.checks.gap.dual_points import Point, Terms, replaced, stepped
from surefit.checks.gap.theorem import row_duals
from surefit.core.partitioned import Part, add

HEAVIEST = 4  # rows per column that are changed because they have the largest entries


class Column(Protocol):
    """One problem, which every partition can rebuild from a few numbers."""

    @property
    def loss(self) -> Any:
        """The loss."""

    @property
    def w(self) -> np.ndarray:
        """The coefficients."""

    @property
    def intercept(self) -> bool:
        """Whether the intercept is free."""

    def here(self, part: Part) -> tuple[Any, Point]:
        """Return the operator and the point of a partition."""


class Moved(NamedTuple):
    """Rows with changed dual variables, by their index among all rows."""

    rows: np.ndarray
    theta: np.ndarray
    rad: np.ndarray
    slip: np.ndarray


class How(NamedTuple):
    """Rule that computes the dual variable of each row."""

    at: tuple[np.ndarray, float] | None = None  # another point, whose derivatives are used
    width: float = 0.0  # width over which kinks are smoothed
    step: tuple[np.ndarray, float] | None = None  # derivatives are taken after it, with barriers for kinks
    barrier: float = 0.0  # weight of these
    given: tuple[np.ndarray, np.ndarray] | None = None  # indices of rows with given dual variables, and their values
    offset: float = 0.0
    more: float = 0.0  # bound on the difference of the offset in another evaluation
    factors: tuple[float, float, float] | None = None  # of positive and of negative dual variables, and their rounding
    moved: Moved | None = None


class Local(NamedTuple):
    """Data of the rows of one partition."""

    operator: Any
    point: Point
    z: Enclosed
    g: np.ndarray
    bends: np.ndarray
    terms: Terms


class Proved(NamedTuple):
    """The bound, and the values that further claims need for new passes over the rows."""

    gap: Gap
    how: How
    shrink: tuple[float, float]
    norms: np.ndarray  # sqrt(sum_i c_i x_ij^2), rounded up


def local(part: Part, column: Column, how: How, witness: np.ndarray | None = None) -> Local:
    """Return scores and dual variables of the rows of a partition."""
    operator, point = column.here(part)
    z = _scores(operator, point.w, point.b, point.b_rad)
    at = z if how.at is None else _scores(operator, how.at[0], how.at[1], 2 * UNIT * abs(how.at[1]))
    y, c = point.y, point.c
    if witness is not None:
        g, slip = loops.clipped(column.loss, y, witness), np.zeros(len(y))
        bends = loops.slopes(column.loss, y, at.mid, 0.0)[1]
    elif how.step is not None and how.barrier > 0.0:
        start = stepped(column.loss, y, at, _scores(operator, *how.step, 2 * UNIT * abs(how.step[1])), how.barrier)
        g, slip, bends = replaced(column.loss, y, start, how.given, part.start)
    else:
        g, bends = loops.slopes(column.loss, y, at.mid + how.offset, how.width)
        slip = loops.slope_moves(column.loss, y, at.mid + how.offset, how.width, g, 2 * at.rad + how.more)
    theta, slip, rad = np.where(c > 0, -c * g, 0.0), c * slip, np.zeros(len(c))
    if how.factors is not None:  # scaled by slightly less than 1, so that dual variables stay in their boxes
        up, down, rounding = how.factors
        theta = theta * (1 - 16 * UNIT) * np.where(theta > 0, up, down)
        rad = rounding * np.abs(theta)
    if how.moved is not None:
        inside = (how.moved.rows >= part.start) & (how.moved.rows < part.start + len(y))
        where = how.moved.rows[inside] - part.start
        theta[where], rad[where], slip[where] = how.moved.theta[inside], how.moved.rad[inside], how.moved.slip[inside]
        rad = rad + 2 * UNIT * np.abs(theta)
    return Local(operator, point, z, g, bends, Terms(theta, rad, slip, np.zeros(0, dtype=bool)))


def _scores(operator: Any, w: np.ndarray, b: float, b_rad: float) -> Enclosed:
    product = operator.times(w)
    return Enclosed(product.mid + b, product.rad + 2 * UNIT * (np.abs(product.mid) + abs(b)) + b_rad)


def sides(part: Part, column: Column, how: How, witness: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of positive and negative dual variables, sizes, curvatures and slips, and the largest radius."""
    own = local(part, column, how, witness)
    c, (up, down) = own.point.c, loops.side_sums(own.terms.theta)
    sums = np.array([up, down, upper_sum(c * np.abs(own.g)), float(c @ own.bends), upper_sum(own.terms.slip)])
    return sums, np.array([float(np.max(own.z.rad[c > 0], initial=0.0))])


def sums_and_maxima(a: Any, b: Any) -> Any:
    """Combine partial results: sums first, then maxima."""
    return add(a[0], b[0]), np.maximum(a[1], b[1])


def correlations(part: Part, column: Column, how: How, witness: Any = None) -> tuple[Any, np.ndarray]:
    """Return products with the columns, their sizes and squared norms, squared lengths of radii, and term counts."""
    own = local(part, column, how, witness)
    found = own.operator._by_columns(own.terms.theta)
    own.operator._squares = found[2]
    weighted = own.operator.norms(own.point.c) ** 2 * (1 + 4 * UNIT)
    lengths = [length(rad) ** 2 * (1 + 4 * UNIT) for rad in (own.terms.rad, own.terms.rad + own.terms.slip)]
    return (np.vstack([found, weighted]), np.array(lengths)), np.array([own.operator.column_terms])


def row_sums(part: Part, column: Column, how: How, shrink: tuple[float, float], witness: Any = None) -> np.ndarray:
    """Return the Fenchel-Young terms (plain, rounded up, for other evaluations) and the losses of the rows."""
    own = local(part, column, how, witness)
    y, c, z = own.point.y, own.point.c, own.z
    g, g_rad, slip = row_duals(own.terms, c, shrink)
    terms = loops.row_sums(column.loss, y, c, z.mid, z.rad, g, g_rad, 2 * z.rad, slip)
    return np.array([*terms, *loops.loss_sums(column.loss, y, c, z.mid, z.rad, 2 * z.rad)])


class Picked(NamedTuple):
    """Rows that may change: indices, features, dual variables, weights of the change, slips, weights and targets."""

    rows: np.ndarray
    F: np.ndarray
    theta: np.ndarray
    D: np.ndarray
    slip: np.ndarray
    c: np.ndarray
    y: np.ndarray
    spaced: np.ndarray  # rows that were selected by their position


def pick(
    part: Part, column: Column, how: How, which: np.ndarray, step: int, curved: bool, witness: Any = None
) -> Picked:
    """Return evenly spaced rows of a partition, and the rows with the largest entries of each column."""
    own = local(part, column, how, witness)
    c = own.point.c
    D = c * own.bends if curved else c * np.minimum(loops.room(column.loss, own.point.y, own.g), 1.0)
    F = own.operator.columns(which, np.arange(len(c)))
    spaced = np.zeros(len(c), dtype=bool)
    spaced[-part.start % step :: step] = True
    found = Picked(np.arange(len(c)) + part.start, F, own.terms.theta, D, own.terms.slip, c, own.point.y, spaced)
    return _few(found)


def join_picked(a: Picked, b: Picked) -> Picked:
    """Join the rows of two partitions, and keep the rows with the largest entries of each column."""
    return _few(Picked(*(np.concatenate([x, y]) for x, y in zip(a, b, strict=True))))


def _few(rows: Picked) -> Picked:
    """Keep the rows that can change and were selected by their position or have the largest entries of a column."""
    kept, count = rows.spaced.copy(), min(HEAVIEST, len(rows.D))
    if rows.F.shape[1] and count:
        weight = np.abs(rows.F) * np.sqrt(rows.D)[:, None]
        kept[np.argsort(-weight, axis=0, kind="stable")[:count].ravel()] = True
    kept &= rows.D > 0
    return Picked(*(values[kept] for values in rows))


def uncertain(part: Part, column: Column, proved: Proved, value: float, more: float, witness: Any = None) -> int:
    """Count the rows of a logistic fit whose label at the optimum is not certain for a gap of ``value``."""
    own = local(part, column, proved.how, witness)
    g, g_rad, _ = row_duals(own.terms, own.point.c, proved.shrink)
    gap = proved.gap._replace(value=value, dual=g, dual_rad=g_rad, z=own.z)
    return int(np.sum(~certain_labels(gap, own.point.y, own.point.c, more)))
