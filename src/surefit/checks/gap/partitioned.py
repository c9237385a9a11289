r"""The gap theorem over rows in partitions: the same terms are summed in passes over the partitions.

No array with one entry per row leaves the partitions. Each pass recomputes scores, dual variables and their rounding
from a few numbers per feature (:class:`surefit.checks.gap.passes.How`). These are the point whose derivatives are used,
the offset and the factors that make the sum of the dual variables zero, and the few rows that were changed so that the
dual point satisfies equalities exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.gap import rows as loops
from surefit.checks.gap import smooth
from surefit.checks.gap.assembly import blurred, joined, shrinks, with_objective
from surefit.checks.gap.equalities import Frame, frame_of, orthogonal
from surefit.checks.gap.losses import has_kinks
from surefit.checks.gap.operators import TINY
from surefit.checks.gap.passes import (
    Column,
    How,
    Moved,
    Picked,
    Proved,
    correlations,
    join_picked,
    pick,
    row_sums,
    sides,
    sums_and_maxima,
)
from surefit.checks.gap.penalties import Penalty
from surefit.core.partitioned import PartitionedRows

OFFSETS = 4  # passes that search for the offset at which the dual variables sum to zero
ROWS_PER_COLUMN = 20  # number of rows that may change so that equalities hold
MOST_MOVED = 4e6  # largest number of entries of these rows


def prove_partitioned(
    rows: PartitionedRows,
    column: Column,
    penalty: Penalty,
    how: How,
    witness: np.ndarray | None = None,
    factor: float = 1.0,
) -> Proved:
    """Bound ``P(w, b) - min P`` at the point of ``column``, over all partitions; ``factor`` scales the dual variables."""
    if penalty.radius is not None:
        raise ValueError("a radius is proved in memory only")
    sliced = () if witness is None else (np.asarray(witness, dtype=np.float64),)
    depth = 2 + math.ceil(math.log2(max(len(rows.lengths), 1)))
    how, found = _balanced_offset(rows, column, how, sliced)
    if penalty.free.any() and factor != 1.0:
        raise ValueError("dual variables of unpenalized columns are scaled in memory only")
    if penalty.free.any():
        met = _met(rows, column, penalty, penalty.free, how, found, depth, sliced)
        if met is None:
            raise ValueError(
                "the unpenalized columns are too dependent to be proved on partitions; add a small penalty"
            )
        return _bounded(rows, column, penalty, met, penalty.free, depth, sliced)
    none = np.zeros(len(column.w), dtype=bool)
    up, down = float(found[0][0]), float(found[0][1])
    factors = (1.0, 1.0, 2 * UNIT)
    if column.intercept:
        small, large = min(up, -down), max(up, -down)
        share = small / large if large > 0 else 1.0
        factors = (share if up > -down else 1.0, share if up < -down else 1.0, (12 + 2 * depth) * UNIT)
    factors = (factor * factors[0], factor * factors[1], factors[2] + (0.0 if factor == 1.0 else 2 * UNIT))
    proved = _bounded(rows, column, penalty, how._replace(factors=factors), none, depth, sliced)
    if factor == 1.0 and blurred(penalty, proved.gap):
        exact = ~penalty.excluded
        met = _met(rows, column, penalty, exact, how, found, depth, sliced)
        if met is not None:
            other = _bounded(rows, column, penalty, met, exact, depth, sliced)
            proved = min(proved, other, key=lambda p: p.gap.value + 2.5 * p.gap.spread)
    return proved


def _balanced_offset(rows: PartitionedRows, column: Column, how: How, sliced: Any) -> tuple[How, Any]:
    """Return the offset at which the dual variables of a smooth loss nearly sum to zero, and the sums there."""
    searched = column.intercept and not sliced and how.width == 0.0 and not has_kinks(column.loss)
    found = rows.map_reduce(sides, column, how, combine=sums_and_maxima, sliced=sliced)
    best = how, found
    for _ in range(OFFSETS if searched else 0):
        up, down, size, steep, _ = found[0].tolist()
        total = -(up + down)  # of the derivatives
        if abs(total) <= (8 + len(rows.lengths)) * UNIT * size or not steep > 0:
            break
        rounding = (16 + rows.shape[0] / 128) * UNIT * size / steep
        offset = how.offset - total / steep
        how = how._replace(offset=offset, more=2 * float(found[1][0]) + 4 * UNIT * abs(offset) + rounding)
        found = rows.map_reduce(sides, column, how, combine=sums_and_maxima, sliced=sliced)
        if abs(found[0][0] + found[0][1]) >= abs(total):
            break
        best = how, found
    return best


def _products(rows: PartitionedRows, column: Column, how: How, depth: int, sliced: Any) -> tuple[Any, Any, Any]:
    """Enclose the products of the columns with the dual point, for its radius and for that of another evaluation."""
    sums, most = rows.map_reduce(correlations, column, how, combine=sums_and_maxima, sliced=sliced)
    ((mid, size, squares, weighted), lengths), terms = sums, int(most[0])
    k = gamma(terms + depth + 4)
    norms = np.sqrt(squares + rows.shape[0] * TINY) * (1 + gamma(terms + depth + 8))
    radii = (size * k + np.outer(np.sqrt(lengths) * (1 + (depth + 8) * UNIT), norms)) * (1 + 4 * k)
    return mid, radii + rows.shape[0] * TINY, np.sqrt(weighted) * (1 + (depth + 8) * UNIT)


def _bounded(
    rows: PartitionedRows, column: Column, penalty: Penalty, how: How, exact: np.ndarray, depth: int, sliced: Any
) -> Proved:
    v, radii, norms = _products(rows, column, how, depth, sliced)
    v, radii = np.where(exact, 0.0, v), np.where(exact, 0.0, radii)
    shrink = shrinks(penalty, v, radii)
    plain, upper, other, loss, elsewhere = rows.map_reduce(row_sums, column, how, shrink, sliced=sliced).tolist()
    up = 1 + 2 * depth * UNIT
    found = joined(penalty, column.w, exact, shrink, v, radii, (plain, upper * up, other * up))
    sizes, sums = penalty.value(column.w), (loss * up, elsewhere * up)
    found = with_objective(sizes, rows.shape[0], sums, found, smooth.proves(column.loss))
    return Proved(found._replace(met=bool(np.all((exact & penalty.free) | penalty.excluded))), how, shrink, norms)


def _met(
    rows: PartitionedRows, column: Column, penalty: Penalty, columns: Any, how: How, found: Any, depth: int, sliced: Any
) -> How | None:
    """Return dual variables with ``v = l2 w`` exactly on some columns, by changing few rows; None if impossible."""
    which, ones = np.flatnonzero(columns), bool(column.intercept)
    k = len(which) + ones
    product, slips, _ = _products(rows, column, how, depth, sliced)
    wanted = penalty.l2[which] * column.w[which]
    v = product[which] - wanted
    radii = slips[:, which] + 2 * UNIT * (np.abs(v) + np.abs(wanted))
    if ones:
        up, down, _, _, slip = found[0].tolist()
        rounding = (4 + 2 * depth) * UNIT * (up - down)
        v, radii = np.append(v, up + down), np.column_stack([radii, [rounding, rounding + slip]])
    count = max(2 * k, min(ROWS_PER_COLUMN * k, int(MOST_MOVED / max(k, 1))))
    for curved in (True, False):
        at: Picked = rows.map_reduce(
            pick, column, how, which, max(rows.shape[0] // count, 1), curved, combine=join_picked, sliced=sliced
        )
        F = np.column_stack([at.F, np.ones(len(at.rows))]) if ones else at.F
        frame = frame_of(F, at.D, np.arange(len(at.rows))) if len(at.rows) else None
        moved = None if frame is None else _moved(column, frame, at, v, radii)
        if moved is not None:
            return how._replace(moved=moved)
    return None


def _moved(column: Column, frame: Frame, at: Picked, v: np.ndarray, radii: np.ndarray) -> Moved | None:
    """Change the dual variables of the rows in the frame; return None if one leaves its domain."""
    slip = np.append(at.slip, 1.0)  # the errors of other rows are in the second radii
    theta, rad, other = (a[:-1] for a in orthogonal(frame, np.append(at.theta, 0.0), v, radii, slip))
    room = loops.room(column.loss, at.y, -theta / at.c)
    return Moved(at.rows, theta, rad, other) if np.all(rad <= at.c * room) else None
