"""Held-out rows of partitions, drawn by marks: equal rows stay together, and the split does not depend on the partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from surefit.bounds.resampling import holdout_size
from surefit.cluster.rows import ChosenRows, DaskRows
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.marks import row_marks, smallest
from surefit.core.partitioned import Part, add
from surefit.risk.units import LEVELS, Columns, sign_of_columns
from surefit.risk.void import why_not_fresh

MOST_HELD_OUT = holdout_size(10**9)  # largest number of rows that are held out by default
FULL = 5 * MOST_HELD_OUT  # number of distinct rows from which this many are held out


class Split(NamedTuple):
    """Held-out rows: those with marks up to ``limit``; ``rows`` contains the first of each set of equal rows, in ascending order."""

    seed: int
    copies: bool
    limit: int
    rows: np.ndarray


def draw_split(who: str, rows: DaskRows, size: int | None, random_state: Any, copies: bool, name: str) -> Split:
    """Hold out ``size`` distinct rows, by default a fifth of them up to a limit; the split depends only on the seed and the rows."""
    seed = seed_of(random_state)
    (found,) = smallest(rows, None, seed, max(FULL, (size or 0) + 1), copies)
    if len(found.marks) < 2:
        raise InvalidData(f"{who}: at least 2 distinct rows are required; got {len(found.marks)}.")
    wanted = holdout_size(len(found.marks)) if size is None else size
    if not wanted < len(found.marks):
        raise InvalidParameter(who, name, f"below the number of distinct rows, {len(found.marks)}", size)
    return Split(seed, copies, int(found.marks[wanted - 1]), np.sort(found.rows[:wanted]))


def seed_of(random_state: Any) -> int:
    """Return an integer ``random_state`` as the seed; otherwise draw a seed."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def training_rows(who: str, rows: DaskRows, split: Split) -> ChosenRows:
    """Return the rows that are not held out, as a view."""
    masks = rows.derive(_outside, split.seed, rows.labels, split.copies, split.limit, size=rows.shape[0])
    return ChosenRows(who, rows, masks)


def _outside(part: Part, seed: int, labels: Any, copies: bool, limit: int) -> np.ndarray:
    return row_marks(part, seed, labels, copies) > np.uint64(limit)


def why_void(rows: DaskRows, assume: tuple[str, ...]) -> str | None:
    """Return why no claim is valid on these rows (columns scaled by their own rows, or a time index), or None."""
    scaled = None
    if "fixed_scaling" not in assume and rows.shape[0] >= 8:
        sums, ends, levels = rows.map_reduce(_column_sums, combine=_join_columns)
        live = ends[0] < ends[1]
        if np.sum(live) >= 2:
            chosen = [level for level, alive in zip(levels, live.tolist(), strict=True) if alive]
            low, high = ends[0, live], ends[1, live]
            eps = 1e-10 if rows.dtype == np.float64 else 1e-5
            inside = np.array(
                [
                    level is None or any(a + eps < value < b - eps for value in level)
                    for level, a, b in zip(chosen, low, high, strict=True)
                ]
            )
            mean, size = sums[:, live] / rows.shape[0]
            scaled = sign_of_columns(Columns(mean, size, low, high, inside, lambda: None not in chosen, eps))
    return why_not_fresh(scaled, rows.in_time_order, assume)


def _column_sums(part: Part) -> tuple[np.ndarray, np.ndarray, list[set[float] | None]]:
    table = np.asarray(part.X, dtype=np.float64)
    levels = [_few(set(np.unique(column).tolist()[: LEVELS + 1])) for column in table.T]
    return (
        np.array([table.sum(axis=0), np.abs(table).sum(axis=0)]),
        np.array([table.min(axis=0), table.max(axis=0)]),
        levels,
    )


def _join_columns(a: Any, b: Any) -> Any:
    ends = np.array([np.minimum(a[1][0], b[1][0]), np.maximum(a[1][1], b[1][1])])
    levels = [None if x is None or y is None else _few(x | y) for x, y in zip(a[2], b[2], strict=True)]
    return add(a[0], b[0]), ends, levels


def _few(values: set[float]) -> set[float] | None:
    return values if len(values) <= LEVELS else None
