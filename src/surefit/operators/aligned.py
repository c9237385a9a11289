"""Rows in partitions of equal length, counted from the first row.

The rounding of a matrix product depends on the shapes of its blocks. If all blocks start at fixed rows, results have
the same bits for any partitions of the data and for rows in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows, add
from surefit.core.threads import one_blas_thread

LENGTH = 16_000  # rows per partition, except the last one; 1000 times a power of two


class RowsInMemory:
    """Rows in memory with the passes of :class:`PartitionedRows`; partial sums are added in the same order."""

    def __init__(self, X: Any, y: np.ndarray | None, weights: np.ndarray | None, length: int) -> None:
        self.X, self.y, self.weights, self.length = X.tocsr() if hasattr(X, "tocsr") else X, y, weights, length
        self.shape = X.shape
        starts = range(0, X.shape[0], length)
        self.lengths = tuple(min(length, X.shape[0] - start) for start in starts)

    def map_reduce(
        self, function: Callable[..., Any], *small: Any, combine: Callable[[Any, Any], Any] | None = None
    ) -> Any:
        """Return the sum of ``function(part, *small)`` over all partitions; see :class:`PartitionedRows`."""
        combine, found = combine or add, []
        with one_blas_thread():
            for start in range(0, self.shape[0], self.length):
                found.append(function(self._part(start), *small))
            while len(found) > 1:
                pairs = [combine(found[i], found[i + 1]) for i in range(0, len(found) - 1, 2)]
                found = pairs + found[2 * len(pairs) :]
        return found[0]

    def _part(self, start: int) -> Part:
        own = slice(start, start + self.length)
        X = self.X[own].toarray() if hasattr(self.X, "toarray") else np.ascontiguousarray(self.X[own])
        y, weights = (None if values is None else values[own] for values in (self.y, self.weights))
        return Part(X, y, weights, start, "the rows")


def aligned(X: Any, y: np.ndarray | None, weights: np.ndarray | None, length: int = LENGTH) -> Any:
    """Return the rows in partitions of ``length`` rows; rows that are already in partitions keep their own targets and weights.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.operators.aligned import aligned
    >>> aligned(np.zeros((5, 2)), None, None, 2).lengths
    (2, 2, 1)
    """
    return X.aligned(length) if isinstance(X, PartitionedRows) else RowsInMemory(X, y, weights, length)


def rows_at(rows: Any, indices: np.ndarray) -> np.ndarray:
    """Return the rows with these ascending indices."""
    return rows.map_reduce(_rows_at, indices, combine=_stacked)


def _rows_at(part: Part, indices: np.ndarray) -> np.ndarray:
    return part.X[indices[(indices >= part.start) & (indices < part.start + len(part.X))] - part.start]


def _stacked(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])
