"""Gaussian naive Bayes: weights, means and variances of the classes, merged over the partitions by one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import trains
from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartitionedRows
from surefit.discriminants.naive_bayes import Batch
from surefit.solvers.discriminants.counts import Spread, class_spread, merged
from surefit.solvers.discriminants.moments import group


@trains("GaussianNB")
def gaussian(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit by one pass."""
    assert rows.labels is not None
    estimator.classes_ = rows.labels
    found = rows.map_reduce(spread_of, rows.labels, combine=merged)
    if not np.all(found.totals > 0):
        label = rows.labels.tolist()[int(np.argmin(found.totals))]
        raise InvalidData(f"GaussianNB: class {label!r} has no row of positive weight; leave the class out.")
    y, weights = rows.outline
    return estimator._learn(Batch(rows, y, weights, found), {})  # type: ignore[arg-type]


def spread_of(part: Part, labels: np.ndarray) -> Spread:
    """Return the statistics of a partition."""
    assert part.y is not None
    return class_spread(group(part.X, np.searchsorted(labels, part.y), len(labels), part.weights))
