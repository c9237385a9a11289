"""Reading of the rows, distances and targets of nearest-neighbor estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.validation import check_params, read_data, read_strings
from surefit.neighbors.search import finite_values

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
SMALLEST = 1e-140  # squares of smaller differences lose digits or underflow


def read_training(estimator, X, y, **options):
    """Check the parameters and read the training data."""
    check_params(estimator)
    if not estimator._takes_strings():
        return read_data(estimator, X, y, **READ, **options, ensure_all_finite=finite_values(estimator))
    who, y = type(estimator).__name__, np.asarray(y)
    X = read_strings(who, X)
    if len(y) != len(X):
        raise InvalidData(
            f"{who}: y must have one target per element of X; got {len(y)} targets for {len(X)} elements."
        )
    return X, y


def require_squares(estimator, X) -> None:
    """Raise ``InvalidData`` if rows are so close that the squares of their differences underflow."""
    largest = float(abs(X).max()) if X.shape[0] else 0.0
    if 0 < largest < SMALLEST:
        raise InvalidData(
            f"{type(estimator).__name__}: squares of entries of X, at most {largest:.2g}, are zero in floating point; multiply its "
            "columns by a constant."
        )


def require_distances(estimator, X) -> None:
    """Raise ``InvalidData`` if a given distance is negative."""
    values = X.data if sparse.issparse(X) else X
    if values.size and values.min() < 0:
        raise InvalidData(
            f"{type(estimator).__name__}: Negative values in data passed to precomputed distance matrix; the smallest is "
            f"{values.min():g}, and distances must be >= 0."
        )
