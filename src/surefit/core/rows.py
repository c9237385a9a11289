"""Rows of any table: selection, and detection of duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Return the selected rows of an array, sparse matrix, data frame or list, as the same type."""
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "iloc"):  # pandas keeps column names and dtypes
        return X.iloc[rows]
    if isinstance(X, (list, tuple)):
        return [X[i] for i in np.asarray(rows).tolist()]
    if isinstance(X, np.ndarray):
        return X[rows]
    return X[np.asarray(rows).tolist()] if hasattr(X, "columns") else np.asarray(X)[rows]


def row_keys(X: Any, y: np.ndarray | None = None) -> list[bytes]:
    """Return bytes that are equal for two rows exactly if all their values are equal (X as returned by ``surefit.checks.base.read``)."""
    if sparse.issparse(X):
        table = X.tocsr(copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        keys = [
            table.indices[start:stop].astype(np.int64).tobytes() + table.data[start:stop].tobytes()
            for start, stop in zip(table.indptr[:-1], table.indptr[1:], strict=True)
        ]
    elif X.dtype.kind == "O":
        keys = [repr(row).encode() for row in X.tolist()]
    else:
        keys = [row.tobytes() for row in np.ascontiguousarray(X + 0.0)]  # + 0.0 turns -0.0 into 0.0
    if y is None:
        return keys
    return [key + b"|" + repr(target).encode() for key, target in zip(keys, np.asarray(y).tolist(), strict=True)]
