"""Enclosed distances from some rows to all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from surefit.checks.enclosure import Enclosed, gamma, row_blocks
from surefit.kernels import Kernel, kernel_distances

BY_DIFFERENCES = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
UNDERFLOW = 1e-290  # powers below this have lost digits, or are zero


def distances(
    how: dict[str, Any], X: Any, rows: np.ndarray, present: np.ndarray, subject: Any = None
) -> Enclosed | None:
    """Enclose the distances of ``rows`` to the rows ``present``; None if a user-defined function is not available.

    ``how`` has the fields metric, options and kernel of the problem of a nearest-neighbor rule.
    """
    if how["kernel"] is not None:
        kernel = Kernel.from_record(how["kernel"]) if how["kernel"] != "function" else getattr(subject, "kernel_", None)
        return None if kernel is None else _by_squares(kernel_distances(kernel, X[rows], X[present]), X)
    metric, options = how["metric"], dict(how["options"])
    if metric == "precomputed":
        found = X[rows][:, present]
        mid = _stored(found) if sparse.issparse(found) else np.asarray(found, dtype=np.float64)
        return Enclosed(mid, np.zeros(mid.shape))
    if metric == "function":
        metric = getattr(subject, "metric", None)
        if metric is None:
            return None
        if hasattr(metric, "pairwise"):
            return _by_squares(metric.pairwise(_dense(X[rows]), _dense(X[present])), X)
        return _by_squares(pairwise_distances(X[rows], X[present], metric=metric, **options), X)
    exponent = float(options.get("p", 2.0)) if metric == "minkowski" else BY_DIFFERENCES.get(metric)
    if exponent is not None and set(options) <= {"p"}:
        return _minkowski(X, rows, present, exponent)
    Q, T = (_dense(X[part]) for part in (rows, present))
    if metric == "nan_euclidean":
        return _by_squares(_nan_euclidean(Q, T), X)
    try:
        return _by_squares(cdist(Q, T, metric=metric, **options), X)
    except (TypeError, ValueError):
        return _by_squares(pairwise_distances(Q, T, metric=metric, **options), X)


def _nan_euclidean(Q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return distances over the columns that both rows have, scaled up to all columns; infinite if they share none."""
    found = np.empty((len(Q), len(T)))
    for i, row in enumerate(Q):
        squares = (T - row) ** 2
        there = np.count_nonzero(~np.isnan(squares), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[i] = np.sqrt(np.nansum(squares, axis=1) * (Q.shape[1] / there))
    return np.where(np.isnan(found), np.inf, found)


def _stored(graph: Any) -> np.ndarray:
    """Return the distances of a sparse graph; pairs that are not stored are infinitely far apart."""
    pairs = graph.tocoo()
    mid = np.full(pairs.shape, np.inf)
    mid[pairs.row, pairs.col] = pairs.data
    return mid


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _minkowski(X: Any, rows: np.ndarray, present: np.ndarray, p: float) -> Enclosed:
    """Enclose Minkowski distances, computed from differences, so that nearby rows lose no accuracy."""
    whole = len(present) == X.shape[0]
    named = {1.0: "cityblock", 2.0: "euclidean", np.inf: "chebyshev"}.get(p)
    how: dict[str, Any] = {"metric": named} if named else {"metric": "minkowski", "p": p}
    Q, d = _dense(X[rows]), X.shape[1]
    parts = [cdist(Q, _dense(X[part] if whole else X[present[part]]), **how) for part in row_blocks(len(present))]
    mid = np.concatenate(parts, axis=1)
    if named:
        return Enclosed(mid, mid * gamma(d + 8))
    least = (d * UNDERFLOW) ** (1 / p)  # powers of smaller differences lose digits
    return Enclosed(mid, mid * gamma(4 * d + 64) * (1 + 1 / p) + np.where(mid <= 2 * least, least, 0.0))


def _by_squares(mid: np.ndarray, X: Any) -> Enclosed:
    """Enclose distances that result from cancellation; their squares are accurate relative to the largest one."""
    mid = np.asarray(mid, dtype=np.float64)
    width = X.shape[1] if getattr(X, "ndim", 1) == 2 else 64
    finite = np.where(np.isfinite(mid), mid, 0.0)
    error = gamma(64 * (width + 16)) * np.max(finite, axis=1, keepdims=True, initial=0.0) ** 2
    return Enclosed(mid, error / np.maximum(mid, np.sqrt(error) + np.finfo(float).tiny))
