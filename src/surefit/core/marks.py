r"""Marks: a pseudorandom 64-bit number per row, computed by a keyed hash of the row, so that equal rows share it.

A split by marks is the same in memory and for any division into partitions, and copies of a row stay on one side. The
distinct rows with the smallest marks are a random sample without replacement. The marks are of the quality of a random
number generator: each word is mixed into the state of SplitMix64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import BLOCK, Part, PartitionedRows, table_of
from surefit.core.rows import take_rows

MOST_TESTED = 20_000  # number of distinct rows of a fold whose losses are kept; scores use all rows
_GOLDEN, _FIRST, _SECOND = (np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class Firsts(NamedTuple):
    """Smallest distinct marks in ascending order, each with the index of the first row that has it."""

    marks: np.ndarray
    rows: np.ndarray


def row_marks(part: Part, seed: int, labels: np.ndarray | None, copies: bool) -> np.ndarray:
    """Return the marks of the rows of a partition: hashes of their values and target, or of their index if copies are separate draws.

    ``labels`` are the sorted distinct targets if these are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.marks import row_marks
    >>> from surefit.core.partitioned import Part
    >>> X, y = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]), np.zeros(3)
    >>> marks = row_marks(Part(X, y, None, 0, "all"), 7, None, True)
    >>> bool(marks[0] == marks[2]), len(set(marks.tolist()))
    (True, 2)
    """
    state = np.full(len(part.X), np.uint64(seed % 2**64))
    if not copies:
        return _mixed(_mixed(state, np.uint64(1)), np.arange(part.start, part.start + len(state)).astype(np.uint64))
    for start in range(0, len(state), BLOCK):
        here = slice(start, start + BLOCK)
        own, table = _mixed(state[here], np.uint64(2)), part.X[here]
        table = table.toarray() if hasattr(table, "toarray") else table
        for column in np.asarray(table, dtype=np.float64).T:
            own = _mixed(own, np.ascontiguousarray(column + 0.0).view(np.uint64))  # + 0.0 turns -0.0 into 0.0
        assert part.y is not None
        target = np.asarray(part.y[here])
        if labels is not None and target.dtype.kind not in "biuf":
            target = np.searchsorted(labels.astype(str), target.astype(str))
        state[here] = _mixed(own, (target.astype(np.float64) + 0.0).view(np.uint64))
    return state


def _mixed(state: Any, word: Any) -> Any:
    z = (state ^ word) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def smallest(X: Any, y: np.ndarray | None, seed: int, most: int, copies: bool, folds: int = 1) -> tuple[Firsts, ...]:
    """Return the smallest distinct marks of each fold, at most ``most``, each with the index of the first row that has it.

    Partitioned rows include their target; ``y`` is the target of rows in memory.
    """
    if isinstance(X, PartitionedRows):
        found = X.map_reduce(_firsts, seed, X.labels, copies, most, folds, combine=partial(_joined, most=most))
        return tuple(found)
    assert y is not None
    labels = np.unique(y) if y.dtype.kind not in "biuf" else None
    return tuple(_firsts(Part(X, y, None, 0, "the rows"), seed, labels, copies, most, folds))


def fold_of(marks: np.ndarray, folds: int) -> np.ndarray:
    """Return the fold of each row; the folds are intervals of marks of equal length."""
    return ((marks >> np.uint64(32)) * np.uint64(folds)) >> np.uint64(32)


def at_rows(X: Any, y: np.ndarray | None, rows: np.ndarray, function: Callable[..., Any], *small: Any) -> Any:
    """Apply ``function(table, targets, *small)`` to some rows in ascending order; return an array or a tuple of arrays.

    Rows in partitions stay in place; the results are concatenated in the order of the rows.
    """
    if isinstance(X, PartitionedRows):
        return X.map_reduce(_at, X.columns, rows, function, small, combine=_behind)
    assert y is not None
    return function(take_rows(X, rows), y[rows], *small)


def _firsts(part: Part, seed: int, labels: Any, copies: bool, most: int, folds: int) -> list[Firsts]:
    marks, first = np.unique(row_marks(part, seed, labels, copies), return_index=True)
    ends = np.searchsorted(fold_of(marks, folds), np.arange(folds + 1))  # the fold increases with the mark
    places = [slice(a, min(b, a + most)) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    return [Firsts(marks[here], first[here].astype(np.int64) + part.start) for here in places]


def _joined(a: list[Firsts], b: list[Firsts], most: int) -> list[Firsts]:
    found = []
    for x, y in zip(a, b, strict=True):
        rows = np.concatenate([x.rows, y.rows])
        marks, first = np.unique(np.concatenate([x.marks, y.marks]), return_index=True)
        found.append(Firsts(marks[:most], rows[first[:most]]))
    return found


def _at(part: Part, columns: Any, rows: np.ndarray, function: Callable[..., Any], small: tuple[Any, ...]) -> Any:
    own = rows[(rows >= part.start) & (rows < part.start + len(part.X))] - part.start
    if not len(own):
        return None
    assert part.y is not None
    return function(table_of(part.X[own], columns), part.y[own], *small)


def _behind(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return a if b is None else b
    if isinstance(a, tuple):
        return tuple(map(np.concatenate, zip(a, b, strict=True)))
    return np.concatenate([a, b])
