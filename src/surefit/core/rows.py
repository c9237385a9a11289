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


def take_values(params: dict[str, Any], rows: np.ndarray, n: int) -> dict[str, Any]:
    """Return parameters of ``fit``; those with one entry for each of the n rows are restricted to the selected rows."""
    return {name: take_rows(value, rows) if _length(value) == n else value for name, value in params.items()}


def _length(value: Any) -> int | None:
    """Return the number of entries of an array, table or sequence; None for anything else."""
    if hasattr(value, "shape"):  # a sparse matrix has no len
        return value.shape[0] if value.shape else None
    return len(value) if hasattr(value, "__len__") and not isinstance(value, (str, dict)) else None


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
