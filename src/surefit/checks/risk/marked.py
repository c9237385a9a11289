"""Rows that were held out by pseudorandom marks, which do not depend on the partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.risk.split import MOST_HELD_OUT, size_trouble
from surefit.core.marks import at_rows, smallest
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data

IN_MEMORY = "this claim is verified with the rows in memory only, because its split was drawn there"


def by_marks(subject: Any) -> bool:
    """Return whether the split was drawn by marks, as for rows in partitions."""
    return getattr(subject, "split_seed_", None) is not None


def mark_trouble(subject: Any, params: Any, assume: tuple[str, ...], data: Data, tested: np.ndarray) -> str:
    """Redraw the held-out rows; return why they differ, or an empty string. Equal rows count once."""
    seed, given = subject.split_seed_, params.get("random_state")
    if isinstance(given, (int, np.integer)) and int(given) != seed:
        return "the split is not the one that random_state draws"
    y, most = None if isinstance(data.X, PartitionedRows) else data.target, max(5 * MOST_HELD_OUT, len(tested) + 1)
    (found,) = smallest(data.X, y, int(seed), most, "equal_rows_are_draws" not in assume)
    trouble = size_trouble(params, len(tested), len(found.marks))
    if trouble:
        return trouble
    if not 0 < len(tested) < len(found.marks) or not np.array_equal(np.sort(found.rows[: len(tested)]), tested):
        return "the held-out rows are not those that the seed draws"
    return ""


def mark_tags(assume: tuple[str, ...]) -> tuple[str, ...]:
    """Return the assumptions about the rows."""
    return ("iid",) if "equal_rows_are_draws" in assume else ("iid", "equal_rows_are_copies")


def answered(data: Data, rows: np.ndarray, function: Any, *small: Any) -> Any:
    """Return ``function(table, targets, *small)`` for some rows, evaluated where the rows are stored."""
    if isinstance(data.X, PartitionedRows):
        return at_rows(data.X, None, rows, function, *small)
    return at_rows(data.given, data.target, rows, function, *small)


def targets_at(data: Data, rows: np.ndarray) -> np.ndarray:
    """Return the targets of some rows."""
    return answered(data, rows, _targets)


def _targets(table: Any, y: np.ndarray) -> np.ndarray:
    return y
