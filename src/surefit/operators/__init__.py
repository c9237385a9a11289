"""Design matrices as seen by solvers; the only folder that distinguishes dense from sparse storage."""

from surefit.operators.base import (
    add_columns,
    column_axpy,
    column_dot,
    column_statistics,
    correlations,
    dimensions,
    gram_rows,
    times,
)
from surefit.operators.convert import as_design
from surefit.operators.dense_columns import DenseColumns
from surefit.operators.dense_rows import DenseRows
from surefit.operators.sparse_columns import SparseColumns

__all__ = [
    "DenseColumns",
    "DenseRows",
    "SparseColumns",
    "add_columns",
    "as_design",
    "column_axpy",
    "column_dot",
    "column_statistics",
    "correlations",
    "dimensions",
    "gram_rows",
    "times",
]
