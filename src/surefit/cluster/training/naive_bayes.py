"""Naive Bayes: class weights with means and variances, or counts, merged over the partitions in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.cluster.fitting import require_class_weights, trains
from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartitionedRows, add
from surefit.discriminants.naive_bayes import Batch
from surefit.solvers.discriminants.counts import Counts, merged
from surefit.solvers.discriminants.partitioned import spread_of, sums_of


@trains("GaussianNB")
def gaussian(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit by one pass."""
    labels = require_class_weights(estimator, rows)
    return _learn(estimator, rows, labels, rows.map_reduce(spread_of, labels, combine=merged))


@trains("MultinomialNB", "BernoulliNB", "ComplementNB")
def discrete(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit by one pass."""
    labels = require_class_weights(estimator, rows)
    trouble, found = rows.map_reduce(_counts, labels, clone(estimator), combine=_joined)
    if trouble:
        raise InvalidData(trouble)
    return _learn(estimator, rows, labels, found)


def _learn(estimator: Any, rows: PartitionedRows, labels: np.ndarray, found: Any) -> Any:
    estimator.classes_ = labels
    y, weights = rows.outline
    return estimator._learn(Batch(rows, y, weights, found), {})  # type: ignore[arg-type]


def _counts(part: Part, labels: np.ndarray, estimator: Any) -> tuple[str, Counts]:
    """Return an error message if the features of a partition are invalid (otherwise empty), and the class sums."""
    trouble = ""
    try:
        estimator._require_features(part.X)
    except InvalidData as error:
        trouble = f"{str(error).rstrip('.')}; see {part.name}."
    return trouble, sums_of(part, labels, estimator._counted(part.X))


def _joined(a: tuple[str, Counts], b: tuple[str, Counts]) -> tuple[str, Counts]:
    return a[0] or b[0], add(a[1], b[1])
