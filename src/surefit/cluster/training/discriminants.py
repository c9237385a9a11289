"""Linear and quadratic discriminants: class moments by one pass, and triangular factors if scatter matrices are too inaccurate."""

from __future__ import annotations

from typing import Any

from surefit.cluster.fitting import require_class_weights, require_defaults, trains
from surefit.core.partitioned import PartitionedRows
from surefit.discriminants.base import Labeled
from surefit.discriminants.lda_training import fit_lda
from surefit.solvers.discriminants.partitioned import ClassesInPartitions


@trains("LinearDiscriminantAnalysis")
def linear(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a linear discriminant analysis by a few passes."""
    return fit_lda(estimator, _labeled(estimator, rows))


@trains("QuadraticDiscriminantAnalysis", "FisherDiscriminant")
def of_classes(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a discriminant by one pass, and one more per class with an ill-conditioned covariance."""
    return estimator._fit(_labeled(estimator, rows))


def _labeled(estimator: Any, rows: PartitionedRows) -> Labeled:
    require_defaults(estimator, covariance_estimator=None)
    labels = require_class_weights(estimator, rows)
    y, weights = rows.outline
    return Labeled(rows, y, labels, weights, ClassesInPartitions(rows, labels))  # type: ignore[arg-type]
