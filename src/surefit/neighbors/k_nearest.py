"""Queries for the k nearest training rows, and their votes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT
from surefit.neighbors.base import NeighborsBase
from surefit.neighbors.search import without_self


class KNearestBase(NeighborsBase):
    """Base class of estimators with queries for a fixed number of neighbors."""

    def _enough(self, k: int, available: int) -> None:
        if k > available:
            raise InvalidData(
                f"{type(self).__name__}: Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {available}: request fewer neighbors, or fit more rows."
            )

    def _require_listed(self, distances: np.ndarray) -> None:
        """Raise ``InvalidData`` if a sparse graph of distances does not store enough neighbors."""
        if self._pairwise() and np.any(np.isinf(distances)):
            raise InvalidData(
                f"{type(self).__name__}: neighbors are required per samples that the sparse graph does not store: some row of X stores "
                "too few distances; decrease number of neighbors, or recompute the graph with more of them."
            )

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Return the nearest training rows of each row of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_queries, n_features), optional
            Query rows; if None, the training rows, which are not neighbors of themselves.
        n_neighbors : int or None, default=None
            Number of neighbors; None means the parameter of the estimator.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Distances in ascending order; only returned if ``return_distance`` is True.
        indices : ndarray of shape (n_queries, n_neighbors)
            Indices of the neighbors in the training data; ties go to the lower index.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not COUNT.allows(k):
            raise InvalidParameter(type(self).__name__, "n_neighbors", COUNT.words, k)
        if X is None:
            self._require_stored_rows("pass the query rows")
            self._enough(k, self.n_samples_fit_ - 1)
            distances, indices = without_self(*self._find(self._fit_X, k + 1))
        else:
            Q = self._read_queries(X)
            self._enough(k, self.n_samples_fit_)
            distances, indices = self._find(Q, k)
        self._require_listed(distances)
        indices = indices if self._fit_X is None else self.sample_indices_[indices]
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """Return the graph of neighbors as a sparse matrix of ones, or of distances with ``mode="distance"``."""
        if mode not in ("connectivity", "distance"):
            raise InvalidParameter(type(self).__name__, "mode", "'connectivity' or 'distance'", mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        values = np.ones(distances.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, distances.size + 1, distances.shape[1])
        return sparse.csr_matrix((values, indices.ravel(), starts), shape=(len(distances), self._n_rows))

    def _voters(self, X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances, indices among the stored rows, and multiplicities of the neighbors, each (n_queries, m)."""
        k = self.n_neighbors
        if X is None:  # a training row is not its own neighbor
            if getattr(self, "_row_weight", None) is not None:
                raise InvalidData(f"{type(self).__name__}: X=None needs a fit without sample_weight; pass the rows.")
            distances, indices = self.kneighbors()
            return distances, indices, np.ones(indices.shape)
        Q = self._read_queries(X)
        if self._row_weight is None:
            self._enough(k, self.n_samples_fit_)
            distances, indices = self._find(Q, k)
            self._require_listed(distances)
            return distances, indices, np.ones(indices.shape)
        total = float(np.sum(self._row_weight))
        if total < k * (1 - 1e-12):
            raise InvalidData(
                f"{type(self).__name__}: n_neighbors = {k} exceeds the sum {total:g} of sample_weight; a weight is a "
                "number of repetitions, so request fewer neighbors or scale the weights."
            )
        m = min(k, self.n_samples_fit_)
        while True:
            distances, indices = self._find(Q, m)
            counts = self._row_weight[indices]
            before = np.cumsum(counts, axis=1) - counts
            if m == self.n_samples_fit_ or np.all(before[:, -1] + counts[:, -1] >= k):
                counts = np.clip(k - before, 0.0, counts)
                self._require_listed(distances[counts > 0])
                return distances, indices, counts
            m = min(2 * m, self.n_samples_fit_)

    def _ballot(self, X, stored: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances, targets (entries of ``stored``) and multiplicities of the neighbors."""
        if self._fit_X is not None:
            distances, indices, counts = self._voters(X)
            return distances, stored[indices], counts
        if "_search" not in self.__dict__ or X is None:
            self._require_stored_rows("pass the rows to predict to the original fitted model")
        Q, k, total = self._read_queries(X), self.n_neighbors, self._total_weight
        self._enough(k, self.n_samples_fit_ if total is None else math.floor(total * (1 + 1e-12)))
        found = self._search.ballot(Q, k, total is not None)  # type: ignore[attr-defined]
        before = np.cumsum(found.weights, axis=1) - found.weights
        return found.distances, found.targets, np.clip(k - before, 0.0, found.weights)
