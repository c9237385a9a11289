"""Fits, predictions and checks on Dask collections and Parquet files (extra ``cluster``): the operator whose rows are in partitions.

The mathematics is that of one machine. Solvers and checkers ask :class:`surefit.core.partitioned.PartitionedRows` for passes over the
rows; this folder lets Dask run them, with threads, processes or a cluster, and registers which estimators can be fitted so.
"""

from surefit.cluster.fitting import fit, trains, unsupported
from surefit.cluster.prediction import lazily
from surefit.cluster.rows import DaskRows, rows_of

__all__ = ["DaskRows", "fit", "lazily", "rows_of", "trains", "unsupported"]
