"""K-means: initialization by k-means||, and one pass per step of Lloyd's algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_defaults, trains
from surefit.clusters.k_means_training import best_of_starts, generator, given_centers, movement_wanted, record
from surefit.core.budget import Budget
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost, PartitionedRows
from surefit.solvers.clustering.lloyd import Partition, descend
from surefit.solvers.clustering.partitions import InPartitions


@trains("KMeans")
def k_means(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit k-means by passes; labels are not collected, and single moves are omitted."""
    _require_possible(estimator, rows)
    random = generator(estimator.random_state)
    with Budget(estimator.max_iter, estimator.max_time) as budget:
        points = InPartitions(rows)
        tolerance = movement_wanted(estimator, points.summary)

        def run() -> Partition:
            start = _start(estimator, points, random)
            return descend(points, points.summary, start, tolerance=tolerance, budget=budget, dtype=rows.dtype)

        try:
            best = best_of_starts(estimator, run, budget)
        except ClusterLost as error:
            raise ClusterLost(str(error), {"cluster_centers_": points.centers} if len(points.centers) else {}) from None
    return record(estimator, rows, None, best, points.summary)


def _start(estimator: Any, points: InPartitions, random: Any) -> np.ndarray:
    if not isinstance(estimator.init, str):
        return given_centers(estimator, estimator.init, len(points.shift))
    draw = points.distinct_points if estimator.init == "random" else points.k_means_parallel
    return draw(estimator.n_clusters, random)


def _require_possible(estimator: Any, rows: PartitionedRows) -> None:
    who = type(estimator).__name__
    if rows.shape[0] < estimator.n_clusters:
        raise InvalidData(f"{who}: n_samples={rows.shape[0]} should be >= n_clusters={estimator.n_clusters}.")
    if callable(estimator.init):
        words = "'k-means++' (drawn by k-means||), 'random' or an array for rows in partitions"
        raise InvalidParameter(who, "init", words, estimator.init)
    if estimator.lower_bound == "sdp":
        raise InvalidParameter(who, "lower_bound", "'auto', 'spectral' or None for rows in partitions", "sdp")
    if estimator.algorithm == "exact":
        raise InvalidParameter(who, "algorithm", "'lloyd' or 'elkan' for rows in partitions", "exact")
    if estimator.single_moves is True:
        require_defaults(estimator, single_moves="auto")
