"""Selected columns of a sparse matrix, stored as short rows; the Gram matrix costs the sum of their squared lengths.

A working set has a few hundred of many thousand columns. They are selected in one pass over the stored rows, which costs a fraction of
converting the whole matrix to columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.newton import csr_products

SHORT = 8.0  # rows are short if they contain this many times fewer pairs of entries than there are pairs of columns
MOST_CENTERED = 0.9  # fraction of the sum of squares of a column that centering may remove before it loses digits


class Picked(NamedTuple):
    """The ``columns`` (ascending) of a matrix, renumbered by position: the arrays of a CSR matrix."""

    columns: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    def holds(self, columns: np.ndarray) -> bool:
        """Return whether all of ``columns`` (ascending) are included."""
        place = np.searchsorted(self.columns, columns)
        return bool(np.all(place < len(self.columns))) and bool(np.all(self.columns[place] == columns))

    def times(self, w: np.ndarray) -> np.ndarray:
        """Return the product with ``w``, one coefficient per included column."""
        return csr_products.dots(self, w)

    def gram(self, weights: np.ndarray, means: np.ndarray) -> np.ndarray | None:
        """Return the Gram matrix of the centered columns with weighted rows; None if another method is faster or more accurate."""
        n, m = len(self.indptr) - 1, len(self.columns)
        lengths = np.diff(self.indptr).astype(np.float64)
        if SHORT * float(lengths @ lengths) > n * float(m) ** 2:
            return None
        pairs, squares, sums = np.zeros((m, m)), np.zeros(m), np.zeros(m)
        _add_pairs(self.data, self.indices, self.indptr, weights, pairs, squares, sums)
        pairs += pairs.T
        pairs.flat[:: m + 1] += squares
        if not means.any():
            return pairs
        total = float(weights.sum())
        taken = means * (2.0 * sums - total * means)
        if np.any(taken > MOST_CENTERED * np.diag(pairs)):
            return None
        cross = np.outer(means, sums - 0.5 * total * means)
        return pairs - (cross + cross.T)


class Picker:
    """Selector of columns of a CSR or CSC matrix; a selection is valid until the next one."""

    def __init__(self, X):
        self.X = X
        self._memory: tuple[np.ndarray, ...] | None = None  # reused: allocating memory costs as much as the selection
        self.last: Picked | None = None

    def pick(self, columns: np.ndarray) -> Picked:
        """Select ``columns`` (ascending) and return them."""
        if self.last is None or not np.array_equal(self.last.columns, columns):
            self.last = Picked(columns, *self._columns(columns))
        return self.last

    def _columns(self, columns: np.ndarray) -> tuple[np.ndarray, ...]:
        X = self.X
        if X.format != "csr":
            X = X[:, columns].tocsr()
        elif len(columns) < X.shape[1]:
            place = np.full(X.shape[1], -1, dtype=X.indices.dtype)
            place[columns] = np.arange(len(columns))
            if self._memory is None:
                self._memory = np.empty(X.nnz), np.empty_like(X.indices), np.empty_like(X.indptr)
            data, indices, indptr = self._memory
            count = int(_pick(X.data, X.indices, X.indptr, place, place >= 0, data, indices, indptr))
            return data[:count], indices[:count], indptr
        return X.data, X.indices, X.indptr


@compiled
def _pick(data, indices, indptr, place, wanted, out, positions, starts):
    count = np.uint64(0)
    for i in range(len(indptr) - 1):
        starts[i] = count
        for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            positions[count] = entry  # kept only if the column is wanted; this avoids an unpredictable branch
            count += np.uint64(wanted[np.uint64(indices[entry])])
    starts[len(indptr) - 1] = count
    for k in range(count):
        kept = np.uint64(positions[k])
        out[k] = data[kept]
        positions[k] = place[np.uint64(indices[kept])]
    return count


@compiled
def _add_pairs(data, indices, indptr, weights, pairs, squares, sums):
    """Add each pair of entries of a row to one triangle, and squares of entries to ``squares``."""
    for i in range(len(indptr) - 1):
        weight = weights[i]
        if weight == 0.0:
            continue
        start = np.uint64(indptr[i])
        for entry in range(start, np.uint64(indptr[i + 1])):
            column = np.uint64(indices[entry])
            value = weight * data[entry]
            row = pairs[column]
            for other in range(start, entry):
                row[np.uint64(indices[other])] += value * data[other]
            squares[column] += value * data[entry]
            sums[column] += value
