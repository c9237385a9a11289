"""Conversion of real targets to the columns on which a network is trained."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import column_or_1d

from surefit.core.errors import InvalidData
from surefit.core.validation import read_data, read_weights
from surefit.neural.base import READ
from surefit.neural.training import Sample, as_rows


def read_targets(estimator, X, y, sample_weight, *, again: bool) -> Sample:
    """Read training data for regression."""
    X, y = read_data(estimator, X, y, reset=not again, multi_output=True, y_numeric=True, **READ)
    y = column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
    weights = read_weights(estimator, sample_weight, X.shape[0])
    if estimator.loss == "poisson" and np.any(y < 0):
        row = int(np.flatnonzero(np.min(y.reshape(len(y), -1), axis=1) < 0)[0])
        raise InvalidData(f"{type(estimator).__name__}: loss='poisson' needs y >= 0; row {row} has {y[row]!r}.")
    return _sample(X, y, weights)


def read_validation(estimator, X_val, y_val, sample: Sample) -> Sample | None:
    """Read the validation rows, if any."""
    if X_val is None and y_val is None:
        return None
    if X_val is None or y_val is None:
        raise InvalidData(f"{type(estimator).__name__}: X_val and y_val must be passed together.")
    X, y = read_data(estimator, X_val, y_val, reset=False, multi_output=True, y_numeric=True, **READ)
    watched = _sample(X.astype(sample.X.dtype, copy=False), y, None)
    if watched.Y.shape[1] != sample.Y.shape[1]:
        raise InvalidData(
            f"{type(estimator).__name__}: y_val has {watched.Y.shape[1]} columns and y has {sample.Y.shape[1]}."
        )
    return watched


def _sample(X, y: np.ndarray, weights) -> Sample:
    Y = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
    return Sample(as_rows(X), Y, weights, y.astype(np.float64))
