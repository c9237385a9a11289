"""Rules for the parameters of nearest-neighbor estimators, and validation of rows, distances and targets."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import distance_metrics
from sklearn.neighbors import VALID_METRICS

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import Rule, check_params, read_data, read_strings
from surefit.neighbors.search import finite_values

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
SMALLEST = 1e-140  # squares of smaller differences lose digits or underflow
LARGEST = 700.0  # logarithm of the largest number, without a margin for sums
VANISHED = 1e-3  # largest difference whose power may underflow, relative to the largest difference

EXPONENT = Rule("a number > 0", lambda v: isinstance(v, numbers.Real) and not isinstance(v, bool) and float(v) > 0)
NAMES = frozenset(distance_metrics()).union(*VALID_METRICS.values())  # of distances
METRIC = Rule(
    "the name of a distance, a function of two rows, a kernel, or a DistanceMetric",
    lambda v: v in NAMES if isinstance(v, str) else callable(v) or hasattr(v, "pairwise"),
)
KERNEL = Rule("a name, a function or an object of surefit.kernels", lambda v: isinstance(v, str) or callable(v))
OPTIONS = Rule("a dict", lambda v: isinstance(v, dict))
FUNCTION = Rule("a function of the distances", callable)


def read_training(estimator, X, y, **options):
    """Validate the parameters and the training data."""
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


def require_powers(estimator, X) -> None:
    r"""Raise ``InvalidParameter`` if terms or results of :math:`(\sum_j |x_j - x_j'|^p)^{1/p}` overflow, or most terms underflow."""
    values, p = X.data if sparse.issparse(X) else X, float(estimator.p)
    widest = 2.0 * float(abs(values).max(initial=0.0))
    if widest == 0 or np.isinf(p):
        return
    size = max(p, 1.0) * math.log(widest), math.log(X.shape[1]) / p + math.log(widest)
    if max(size) > LARGEST or math.exp(-LARGEST / p) > VANISHED * widest:
        words = f"such that powers of differences up to {widest:.2g} neither overflow nor vanish, or inf for the largest difference"
        raise InvalidParameter(type(estimator).__name__, "p", words, estimator.p)


def require_distances(estimator, X) -> None:
    """Raise ``InvalidData`` if a given distance is negative."""
    values = X.data if sparse.issparse(X) else X
    if values.size and values.min() < 0:
        raise InvalidData(
            f"{type(estimator).__name__}: Negative values in data passed to precomputed distance matrix; the smallest is "
            f"{values.min():g}, and distances must be >= 0."
        )
