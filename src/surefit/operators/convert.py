from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.operators.dense_columns import DenseColumns
from surefit.operators.dense_rows import DenseRows
from surefit.operators.sparse_columns import SparseColumns


def as_design(X) -> Any:
    """Return the design that reads ``X`` in place; CSR is converted to CSC, and strided views are made contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.operators import as_design
    >>> type(as_design(np.eye(2))).__name__, type(as_design(np.asfortranarray(np.ones((3, 2))))).__name__
    ('DenseRows', 'DenseColumns')
    """
    if sparse.issparse(X):
        return _sparse_columns(X)
    values = np.asarray(X)
    if values.ndim != 2:
        raise InvalidData(
            f"X: expected a table of rows and columns; got {counted(values.ndim, 'dimension')}. Use X.reshape(-1, 1)."
        )
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if values.flags.f_contiguous:
        return DenseColumns(values)
    if values.flags.c_contiguous:
        return DenseRows(values)
    return DenseColumns(np.asfortranarray(values))


def _sparse_columns(X) -> SparseColumns:
    columns = X.tocsc(copy=False)
    if not columns.has_canonical_format:
        columns = columns.copy()  # the user's matrix must not be reordered in place
        columns.sum_duplicates()
    data = columns.data if columns.dtype in (np.float32, np.float64) else columns.data.astype(np.float64)
    small = max(columns.nnz, *columns.shape) < 2**31
    kind = np.int32 if small else np.int64
    indices, indptr = columns.indices.astype(kind, copy=False), columns.indptr.astype(kind, copy=False)
    return SparseColumns(np.ascontiguousarray(data), indices, indptr, int(columns.shape[0]))
