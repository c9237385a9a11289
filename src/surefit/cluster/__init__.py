"""Fits, predictions and checks on Dask collections and Parquet files, with the optional dependencies ``cluster``.

The mathematics is the same as on one machine. Solvers and checkers request passes over the rows from
:class:`surefit.core.partitioned.PartitionedRows`. This folder runs them with Dask, on threads, processes or a cluster,
and registers the estimators that support partitioned rows.
"""

from surefit.cluster.fitting import fit, trains, unsupported
from surefit.cluster.prediction import lazily
from surefit.cluster.rows import DaskRows, rows_of

__all__ = ["DaskRows", "fit", "lazily", "rows_of", "trains", "unsupported"]
