"""Designs: matrices of features as solvers see them; the only folder that knows dense from sparse."""

from surefit.designs.base import (
    add_columns,
    column_axpy,
    column_dot,
    column_statistics,
    correlations,
    dimensions,
    gram_rows,
    times,
)
from surefit.designs.convert import as_design
from surefit.designs.dense_columns import DenseColumns
from surefit.designs.dense_rows import DenseRows
from surefit.designs.sparse_columns import SparseColumns

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
