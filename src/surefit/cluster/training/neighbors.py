"""Nearest neighbors: a fit leaves the rows in the partitions, and every query is a pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.cluster.fitting import trains
from surefit.cluster.training.least_squares import require_one_number
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import PartitionedRows
from surefit.neighbors.claims import sampled_rows
from surefit.neighbors.inputs import SMALLEST
from surefit.neighbors.partitioned import How, InPartitions, larger, largest, rows_at
from surefit.neighbors.search import EXPONENTS
from surefit.problems import pose
from surefit.problems.neighbors import effective_metric


@trains("KNeighborsClassifier", refers=True)
def classifier(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a nearest-neighbor classifier, which refers to the partitioned rows and labels."""
    estimator.classes_, estimator.outputs_2d_, estimator._codes = rows.labels, False, None
    return _remember(estimator, rows)


@trains("KNeighborsRegressor", refers=True)
def regressor(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a nearest-neighbor regressor, which refers to the partitioned rows and targets."""
    require_one_number(estimator, rows)
    estimator._column, estimator._targets = False, None
    return _remember(estimator, rows)


@trains("NearestNeighbors", refers=True)
def nearest(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a nearest-neighbor search, which refers to the partitioned rows."""
    return _remember(estimator, rows)


def _remember(estimator: Any, rows: PartitionedRows) -> Any:
    who, metric = type(estimator).__name__, estimator.metric
    if estimator.kernel is not None or estimator.metric_params or metric not in ("minkowski", *EXPONENTS):
        words = f"one of minkowski, {', '.join(EXPONENTS)}, without metric_params or a kernel, for rows in partitions"
        raise InvalidParameter(who, "metric", words, metric if estimator.kernel is None else estimator.kernel)
    size, count = rows.map_reduce(largest, combine=larger)
    if 0 < size < SMALLEST:
        raise InvalidData(
            f"{who}: squares of entries of X, at most {size:.2g}, are zero in floating point; multiply its columns by a constant."
        )
    estimator._n_rows, estimator.n_samples_fit_ = rows.shape[0], count
    estimator._fit_X = estimator._row_weight = None
    estimator.__dict__.pop("sample_indices_", None)  # of an earlier fit in memory
    estimator._total_weight = rows.total_weight if rows.weighted else None
    estimator.effective_metric_, estimator.effective_metric_params_ = effective_metric(estimator.get_params(deep=False))
    scale = 0.5 ** math.frexp(size)[1]
    how = How(metric, float(estimator.p), scale, getattr(estimator, "classes_", None))
    estimator._search = InPartitions(rows, how)
    places = sampled_rows(count, rows.shape[1])
    found = estimator._search.ballot(rows_at(rows, places), min(int(estimator.n_neighbors), count), False)
    estimator._issue(
        "C",
        [Claim("knn.neighbors", witness={"neighbors": np.asarray(found.indices)}), Claim("knn.elsewhere")],
        problem=pose(estimator, rows, *rows.outline),
        model=("n_samples_fit_", *estimator._class_attributes()),
        sample=(rows, *rows.outline),
    )
    return estimator
