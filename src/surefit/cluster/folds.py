"""Folds of partitioned rows, drawn by marks: views of the partitions, and the tested rows of each fold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.cluster.rows import ChosenRows, DaskRows
from surefit.cluster.splits import seed_of
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.marks import MOST_TESTED, fold_of, row_marks, smallest
from surefit.core.partitioned import Part
from surefit.risk.units import Units


class Folds(NamedTuple):
    """Folds of a table, given by intervals of marks of equal length; ``rows`` are the tested rows of each, in ascending order."""

    seed: int
    copies: bool
    rows: tuple[np.ndarray, ...]

    def view(self, who: str, table: DaskRows, fold: int, testing: bool) -> ChosenRows:
        """Return the rows of a fold if ``testing``, otherwise all other rows."""
        small = self.seed, table.labels, self.copies, len(self.rows), fold, testing
        return ChosenRows(who, table, table.derive(_mask, *small, size=table.shape[0]))

    @property
    def units(self) -> Units:
        """Sampling units of the tests: every tested row is a unit, because equal rows are tested once."""
        n = sum(map(len, self.rows))
        return Units(np.arange(n), n, "copies" if self.copies else "rows")


def draw_folds(who: str, rows: DaskRows, cv: Any, assume: tuple[str, ...], random_state: Any = None) -> Folds:
    """Draw the folds of ``cv``, a number or a ``KFold``; the seed is ``random_state`` if given, else that of the ``KFold``, or 0."""
    count, seed = _plan(who, cv)
    seed = seed if random_state is None else seed_of(random_state)
    copies = "equal_rows_are_draws" not in assume
    found = smallest(rows, None, seed, MOST_TESTED, copies, count)
    if min(len(firsts.rows) for firsts in found) == 0:
        raise InvalidData(f"{who}: a fold has no rows; the data have too few distinct rows for {count} folds.")
    return Folds(seed, copies, tuple(np.sort(firsts.rows) for firsts in found))


def _plan(who: str, cv: Any) -> tuple[int, int]:
    if cv is None:
        return 5, 0
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2:
        return int(cv), 0
    if type(cv).__name__ == "KFold":
        return int(cv.n_splits), 0 if cv.random_state is None else seed_of(cv.random_state)
    raise InvalidParameter(who, "cv", "None, a number of folds >= 2 or a KFold, for rows in partitions", cv)


def _mask(part: Part, seed: int, labels: Any, copies: bool, folds: int, fold: int, testing: bool) -> np.ndarray:
    return (fold_of(row_marks(part, seed, labels, copies), folds) == np.uint64(fold)) == testing
