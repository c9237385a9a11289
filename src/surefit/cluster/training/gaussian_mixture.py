"""Gaussian mixtures: one pass per EM step; initialization as for k-means."""

from __future__ import annotations

from typing import Any

from surefit.cluster.fitting import trains
from surefit.clusters.mixture_training import fit_rows
from surefit.core.errors import InvalidData
from surefit.core.partitioned import PartitionedRows


@trains("GaussianMixture")
def gaussian_mixture(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a Gaussian mixture by EM."""
    if rows.shape[0] < 2:
        raise InvalidData(f"{type(estimator).__name__}: Found array with 1 sample(s); a minimum of 2 is required.")
    return fit_rows(estimator, rows, None)
