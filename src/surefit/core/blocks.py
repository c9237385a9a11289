"""Conversion of sparse tables to dense blocks of rows or columns, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData

ROWS = 1024  # number of rows of a sparse table that are converted at a time
MOST_BYTES = 2**31  # limit for a sparse table that is converted as a whole


def by_rows(X: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Apply ``function`` to all rows; rows of a sparse table are passed in dense blocks."""
    if not sparse.issparse(X):
        return function(X)
    table = X.tocsr()
    starts = range(0, max(table.shape[0], 1), ROWS)
    return np.concatenate([function(table[start : start + ROWS].toarray()) for start in starts])


def dense_rows(X: Any, start: int, stop: int) -> np.ndarray:
    """Return some rows as a dense table."""
    return X[start:stop].toarray() if sparse.issparse(X) else X[start:stop]


def dense_columns(X: Any, start: int, stop: int) -> np.ndarray:
    """Return some columns as the rows of a dense float64 table; a sparse X should be in CSC format."""
    part = X[:, start:stop]
    return np.ascontiguousarray(part.toarray().T if sparse.issparse(part) else part.T, dtype=np.float64)


def require_memory(who: str, X: Any, bytes_per_entry: int, advice: str) -> None:
    """Raise ``InvalidData`` if a sparse table would need more than two gigabytes."""
    needed = X.shape[0] * X.shape[1] * bytes_per_entry
    if sparse.issparse(X) and needed > MOST_BYTES:
        raise InvalidData(
            f"{who}: this sparse X of shape {X.shape} needs {needed / 2**30:.1f} GiB while trees grow, more than "
            f"{MOST_BYTES / 2**30:.0f} GiB; {advice}."
        )
