"""Training data of classifiers: labels as codes, as the checker will read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from surefit.core.validation import read_data, read_weights


class Labelled(NamedTuple):
    """Rows with labels."""

    X: Any
    y: np.ndarray  # as the checker will read it: numbers are float64
    codes: np.ndarray  # place of each label among the classes
    classes: np.ndarray
    weights: np.ndarray | None  # as given

    @property
    def shares(self) -> np.ndarray:
        """Weights that add up to one."""
        n = len(self.codes)
        return np.full(n, 1.0 / n) if self.weights is None else self.weights / np.sum(self.weights)

    @property
    def counted(self) -> Labelled:
        """The rows of positive weight."""
        if self.weights is None or np.all(self.weights > 0):
            return self
        kept = np.flatnonzero(self.weights > 0)
        return Labelled(self.X[kept], self.y[kept], self.codes[kept], self.classes, self.weights[kept])


def read_labelled(estimator, X, y, sample_weight, **options) -> Labelled:
    """Read X, labels and weights; options are those of scikit-learn's ``validate_data``."""
    X, given = read_data(estimator, X, y, **{"dtype": [np.float64, np.float32], **options})
    check_classification_targets(given)
    classes, codes = np.unique(given, return_inverse=True)
    y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
    return Labelled(X, y, codes.astype(np.int64), classes, read_weights(estimator, sample_weight, X.shape[0]))
