"""Claims of nearest-neighbor estimators."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.claims import Claim

SAMPLED, CELLS = 24, 2_000_000  # largest number of rows whose neighbors are recorded, and limit on the entries compared


def neighbor_claims(estimator: Any, X: Any) -> list[Claim]:
    """Return the claims that the training rows are stored and that recorded neighbors are the nearest ones."""
    rows, k = _sampled(estimator, X), min(int(estimator.n_neighbors), X.shape[0])
    if estimator._pairwise() and sparse.issparse(X):  # a graph may store fewer distances in these rows
        k = min(k, int(np.diff(X.indptr)[rows].min()))
    if k == 0:
        return [Claim("knn.rows")]
    _, indices = estimator._find(X[rows], k)
    found = {"neighbors": estimator.sample_indices_[indices]}
    return [Claim("knn.neighbors", witness=found), Claim("knn.rows")]


def radius_claims(estimator: Any, X: Any) -> list[Claim]:
    """Return the claims that the training rows are stored and that recorded neighbors in the radius are complete."""
    found = estimator._within(X[_sampled(estimator, X)], float(estimator.radius))
    witness = {"starts": found.starts, "neighbors": estimator.sample_indices_[found.indices]}
    return [Claim("knn.within", witness=witness), Claim("knn.rows")]


def _sampled(estimator: Any, X: Any) -> np.ndarray:
    return sampled_rows(X.shape[0], estimator._n_rows if estimator._pairwise() else X.shape[1] if X.ndim == 2 else 1)


@lru_cache(64)
def sampled_rows(n: int, d: int) -> np.ndarray:
    """Return evenly spaced indices of the training rows whose neighbors are recorded."""
    count = min(n, max(2, min(SAMPLED, CELLS // max(n * d, 1))))
    found = np.unique(np.linspace(0, n - 1, count).astype(np.int64))
    found.setflags(write=False)  # later calls return the same array
    return found
