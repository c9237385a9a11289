"""Rows for access in random order: sparse entries with unsigned indices and prefetching.

Unsigned indices skip the check for negative values, and the entries of the next rows are prefetched, because a pass
over shuffled sparse rows is limited by memory access, not by arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.solvers.perceptron.rows import WholeRows, add_row, dot_row, fetch, fetch_row, square_row


class ScatteredRows(NamedTuple):
    """Stored entries of a sparse matrix, row by row; values and columns are separate arrays."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray


def rows_to_visit(X) -> Any:
    """Return the rows of ``X`` in place, for access in any order."""
    if not sparse.issparse(X):
        return WholeRows(np.ascontiguousarray(X))
    X = X.tocsr()
    unsigned = np.uint32 if X.indices.itemsize == 4 else np.uint64
    return ScatteredRows(X.data.reshape(1, -1), X.indices.view(unsigned).reshape(1, -1), X.indptr.astype(np.uint64))


@dot_row.register(ScatteredRows)
def _(rows, i, w):
    total = 0.0
    for k in range(rows.starts[i], rows.starts[i + 1]):
        total += w[rows.columns[0, k]] * rows.values[0, k]
    return total


@add_row.register(ScatteredRows)
def _(rows, i, step, w):
    for k in range(rows.starts[i], rows.starts[i + 1]):
        w[rows.columns[0, k]] += step * rows.values[0, k]


@square_row.register(ScatteredRows)
def _(rows, i):
    total = 0.0
    for k in range(rows.starts[i], rows.starts[i + 1]):
        total += np.float64(rows.values[0, k]) * np.float64(rows.values[0, k])
    return total


@fetch_row.register(ScatteredRows)
def _(rows, i):
    for k in range(rows.starts[i], rows.starts[i + 1], 8):  # eight values or sixteen column numbers per cache line
        fetch(rows.values, 0, k)
        fetch(rows.columns, 0, k)
