"""Principal components: mean and scatter matrix by passes, eigenvectors on the client."""

from __future__ import annotations

from typing import Any

from surefit.cluster.fitting import trains
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import PartitionedRows
from surefit.decomposition.pca_training import fit_pca


@trains("PCA")
def pca(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a principal component analysis by four passes."""
    who, (n, d) = type(estimator).__name__, rows.shape
    if estimator.svd_solver not in ("auto", "covariance_eigh"):
        words = "'auto' or 'covariance_eigh' for rows in partitions"
        raise InvalidParameter(who, "svd_solver", words, estimator.svd_solver)
    if n < d:
        raise InvalidData(f"{who}: rows in partitions must be at least as many as the columns; X is {n} x {d}.")
    if rows.weighted:
        raise InvalidData(f"{who}: sample_weight is not supported; repeat the rows.")
    return fit_pca(estimator, rows)
