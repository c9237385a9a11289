"""Common parts of the nearest-neighbor estimators: parameters and the search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    COUNT,
    N_JOBS,
    NOTHING,
    one_of,
    read_data,
    read_strings,
    read_weights,
)
from surefit.kernels import Kernel, resolve
from surefit.neighbors.claims import neighbor_claims
from surefit.neighbors.inputs import (
    EXPONENT,
    FUNCTION,
    KERNEL,
    METRIC,
    OPTIONS,
    READ,
    require_distances,
    require_squares,
)
from surefit.neighbors.search import Search, finite_values, kernel_search, search_for, without_self
from surefit.problems.neighbors import effective_metric


class NeighborsBase(CertifiedMixin, BaseEstimator):
    """Nearest rows of a training sample, sorted by distance and then by index."""

    _rules = {
        "n_neighbors": COUNT,
        "weights": NOTHING | one_of("uniform", "distance") | FUNCTION,
        "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute"),
        "leaf_size": COUNT,
        "p": EXPONENT,
        "metric": METRIC,
        "metric_params": NOTHING | OPTIONS,
        "n_jobs": N_JOBS,
        "kernel": NOTHING | KERNEL,
    }
    _search: Search
    kernel: Any = None  # for estimators without this parameter
    _total_weight: float | None = None  # for partitioned rows, whether they are weighted

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
        kernel=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.kernel = kernel

    def _remember(self, X, y, sample_weight) -> None:
        """Store the rows of positive weight and their targets, prepare the search and issue the certificate."""
        who = type(self).__name__
        weights = read_weights(self, sample_weight, X.shape[0])
        if self._pairwise() and X.shape[0] != X.shape[1]:
            raise InvalidData(f"{who}: precomputed distances must be a square matrix at fit; got shape {X.shape}.")
        if self._pairwise():
            require_distances(self, X)
        numbers = y is not None and y.dtype.kind in "biuf"
        read_as = y.astype(np.float64) if numbers else y  # in the format of the checker
        self._n_rows = X.shape[0]
        self.__dict__.pop("_total_weight", None)  # from an earlier fit to partitions
        self.sample_indices_ = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights > 0)
        whole = len(self.sample_indices_) == X.shape[0]
        kept = X if whole else X[self.sample_indices_]
        self._fit_X = kept[:, self.sample_indices_] if self._pairwise() and not whole else kept
        self._row_weight = None if weights is None else weights[self.sample_indices_]
        self.n_samples_fit_ = self._fit_X.shape[0]
        self.effective_metric_, self.effective_metric_params_ = effective_metric(self.get_params(deep=False))
        if self._kernel_given() is None and self.effective_metric_ == "euclidean":
            require_squares(self, self._fit_X)
        self._search = self._prepare()
        self._keep_targets(y)
        self._issue(
            "C",
            self._claims(),
            problem=(),
            model=("n_samples_fit_", *self._class_attributes()),
            sample=(X, read_as, weights),
        )

    def _class_attributes(self) -> tuple[str, ...]:
        return ()

    def _claims(self) -> list[Claim]:
        return neighbor_claims(self, self._fit_X)

    def _keep_targets(self, y: np.ndarray) -> None:
        raise TypeError("A nearest-neighbor estimator must define how it stores targets.")

    def _prepare(self) -> Search:
        self._require_stored_rows("a stored or copied model cannot search them; fit again where they are")
        given, who = self._kernel_given(), type(self).__name__
        if given is not None:
            self.kernel_ = resolve(given, gamma="scale", X=self._fit_X, who=who)
            return kernel_search(who, self.kernel_, self._fit_X)
        return search_for(
            self._fit_X, algorithm=self.algorithm, metric=self.metric, p=self.p, metric_params=self.metric_params
        )

    def _require_stored_rows(self, otherwise: str) -> None:
        if self._fit_X is None:
            raise InvalidData(f"{type(self).__name__}: the training rows are in partitions: {otherwise}.")

    def __getstate__(self):
        """Return the state without the search structure, which is rebuilt from the rows."""
        return {key: value for key, value in super().__getstate__().items() if key != "_search"}

    def _find(self, Q, k: int) -> tuple[np.ndarray, np.ndarray]:
        if "_search" not in self.__dict__:
            self._search = self._prepare()
        return self._search.nearest(Q, k, self.n_jobs)

    def _kernel_given(self) -> Any:
        """Return the kernel whose features are compared, if there is one."""
        if not isinstance(self.metric, Kernel):
            return self.kernel
        if self.kernel is not None:
            raise InvalidParameter(type(self).__name__, "kernel", "None if the metric is a kernel", self.kernel)
        return self.metric

    def _pairwise(self) -> bool:
        return self.kernel is None and isinstance(self.metric, str) and self.metric == "precomputed"

    def _takes_strings(self) -> bool:
        given = self._kernel_given()
        return isinstance(given, Kernel) and given.takes == "strings"

    def _read_queries(self, X):
        check_is_fitted(self)
        if self._takes_strings():
            return read_strings(type(self).__name__, X)
        Q = read_data(self, X, reset=False, **READ, ensure_all_finite=finite_values(self))
        if not self._pairwise():
            return Q.toarray() if sparse.issparse(Q) and not sparse.issparse(self._fit_X) else Q
        require_distances(self, Q)
        return Q if self.n_samples_fit_ == self._n_rows else Q[:, self.sample_indices_]

    def _enough(self, k: int, available: int) -> None:
        if k > available:
            raise InvalidData(
                f"{type(self).__name__}: Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {available}: request fewer neighbors, or fit more rows."
            )

    def _require_listed(self, distances: np.ndarray) -> None:
        """Raise ``InvalidData`` if a sparse graph of distances does not store a neighbor that is needed."""
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
            Number of neighbors; None: the parameter of the estimator.
        return_distance : bool, default=True
            Return distances as well.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Only if ``return_distance``; nearest first.
        indices : ndarray of shape (n_queries, n_neighbors)
            Indices of the neighbors in the training data; ties go to the lower index.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not COUNT.allows(k):
            raise InvalidParameter(type(self).__name__, "n_neighbors", COUNT.words, k)
        if X is None:
            self._require_stored_rows("pass the rows whose neighbors are asked for")
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
            self._require_stored_rows("pass the rows to predict, to the model that was fitted where the rows are")
        Q, k, total = self._read_queries(X), self.n_neighbors, self._total_weight
        self._enough(k, self.n_samples_fit_ if total is None else math.floor(total * (1 + 1e-12)))
        found = self._search.ballot(Q, k, total is not None)  # type: ignore[attr-defined]
        before = np.cumsum(found.weights, axis=1) - found.weights
        return found.distances, found.targets, np.clip(k - before, 0.0, found.weights)

    def _shares(self, distances: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the weight of each neighbor: its multiplicity times the function ``weights`` of the distance."""
        if self.weights in (None, "uniform"):
            return counts
        if self.weights == "distance":
            with np.errstate(divide="ignore"):
                inverse = 1.0 / distances
            same = np.isinf(inverse) & (counts > 0)
            any_same = same.any(axis=1, keepdims=True)
            return np.where(any_same, same, np.where(np.isinf(inverse), 0.0, inverse)) * counts
        found = np.asarray(self.weights(distances), dtype=np.float64)
        if found.shape != distances.shape:
            raise InvalidData(
                f"{type(self).__name__}: weights must return one number per distance, shape {distances.shape}; "
                f"got {found.shape}."
            )
        return found * counts

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._pairwise()
        tags.input_tags.allow_nan = finite_values(self) == "allow-nan"
        tags.target_tags.required = True
        return tags
