"""Selected columns of a sparse matrix, stored as short rows; the Gram matrix costs the sum of their squared lengths.

A working set has a few hundred of many thousand columns. They are selected in one pass over the stored rows, which costs a fraction of
converting the whole matrix to columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import PARTS, THREADED, blas_threads, map_blocks, map_parts, tree_sum
from surefit.solvers.newton import csr_products

SHORT = 8.0  # rows are short if they contain this many times fewer pairs of entries than there are pairs of columns
PER_PAIR = (
    4  # pairs of entries per pair of columns and part, so that a part takes longer than adding its result to the others
)
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

        def part(start: int, stop: int) -> np.ndarray:
            found = np.zeros((m + 2, m))
            rows = self.data, self.indices, self.indptr[start : stop + 1], weights[start:stop]
            _add_pairs(*rows, found[:m], found[m], found[m + 1])
            return found

        per_row = max(int(lengths @ lengths) // max(n, 1), 1)
        found = tree_sum(map_parts(part, (n, per_row), max(csr_products.LEAST, PER_PAIR * m * m // per_row)))
        pairs, squares, sums = found[:m], found[m], found[m + 1]
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
            return _picked(X, place, *self._memory)
        return X.data, X.indices, X.indptr


def _picked(
    X: Any, place: np.ndarray, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Write the entries of the columns with a ``place`` into the given arrays.

    Each thread writes to the memory of its own rows, and then the parts are joined; the result does not depend on the parts.
    """
    n, wanted, threads = X.shape[0], place >= 0, blas_threads() if X.nnz >= THREADED else 1

    def part(start: int, stop: int) -> tuple[int, int, int]:
        own = X.indptr[start : stop + 1], place, wanted, data[X.indptr[start] :], indices[X.indptr[start] :]
        return start, stop, int(_pick(X.data, X.indices, *own, indptr[start:stop]))

    end = 0
    for start, stop, count in map_blocks(part, n, n if threads == 1 else -(-n // PARTS), threads):
        if end:
            first = X.indptr[start]
            for values in (data, indices):
                values[end : end + count] = values[first : first + count]
            indptr[start:stop] += end
        end += count
    indptr[n] = end
    return data[:end], indices[:end], indptr


@compiled
def _pick(data, indices, indptr, place, wanted, out, positions, starts):
    count = np.uint64(0)
    for i in range(len(starts)):
        starts[i] = count
        for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            positions[count] = entry  # kept only if the column is wanted; this avoids an unpredictable branch
            count += np.uint64(wanted[np.uint64(indices[entry])])
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
