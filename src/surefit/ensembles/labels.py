"""Training data of classifiers: labels as class indices, in the format of the checker."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.validation import check_labels, read_data, read_weights


class Labeled(NamedTuple):
    """Rows with labels."""

    X: Any
    y: np.ndarray  # in the format of the checker: numbers are float64
    codes: np.ndarray  # index of each label among the classes
    classes: np.ndarray
    weights: np.ndarray | None  # as given

    @property
    def shares(self) -> np.ndarray:
        """Weights that sum to one."""
        n = len(self.codes)
        return np.full(n, 1.0 / n) if self.weights is None else self.weights / np.sum(self.weights)

    @property
    def counted(self) -> Labeled:
        """The rows with positive weight."""
        if self.weights is None or np.all(self.weights > 0):
            return self
        kept = np.flatnonzero(self.weights > 0)
        return Labeled(self.X[kept], self.y[kept], self.codes[kept], self.classes, self.weights[kept])


def read_labeled(estimator, X, y, sample_weight, **options) -> Labeled:
    """Read X, labels and weights; options are those of scikit-learn's ``validate_data``."""
    X, given = read_data(estimator, X, y, **{"dtype": [np.float64, np.float32], **options})
    check_labels(given)
    classes, codes = np.unique(given, return_inverse=True)
    y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
    return Labeled(X, y, codes.astype(np.int64), classes, read_weights(estimator, sample_weight, X.shape[0]))
