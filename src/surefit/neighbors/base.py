"""What both neighbour rules share: parameters, the search, and who is near."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import (
    COUNT,
    N_JOBS,
    NOTHING,
    Rule,
    check_params,
    one_of,
    read_data,
    read_strings,
    read_weights,
)
from surefit.kernels import Kernel, resolve
from surefit.neighbors.claims import neighbour_claims
from surefit.neighbors.search import Search, kernel_search, search_for

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
EXPONENT = Rule("a number > 0", lambda v: isinstance(v, numbers.Real) and not isinstance(v, bool) and float(v) > 0)
METRIC = Rule(
    "the name of a distance, a function of two rows, or a kernel", lambda v: isinstance(v, str) or callable(v)
)
KERNEL = Rule("a name, a function or an object of surefit.kernels", lambda v: isinstance(v, str) or callable(v))
OPTIONS = Rule("a dict", lambda v: isinstance(v, dict))
FUNCTION = Rule("a function of the distances", callable)
SMALLEST = 1e-140  # differences of smaller entries have squares without digits, or none


class NeighborsBase(CertifiedMixin, BaseEstimator):
    """The nearest rows of a training sample, in order of distance and then of index."""

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

    def _remember(self, X, y, sample_weight, **problem) -> None:
        """Keep the rows of positive weight, prepare the search and issue the certificate."""
        who = type(self).__name__
        weights = read_weights(self, sample_weight, X.shape[0])
        if self._pairwise() and X.shape[0] != X.shape[1]:
            raise InvalidData(f"{who}: precomputed distances must be a square matrix at fit; got shape {X.shape}.")
        numbers = y.dtype.kind in "biuf"  # as the checker reads targets
        fingerprint = data_fingerprint(X, y.astype(np.float64) if numbers else y, weights)
        self._n_rows = X.shape[0]
        self.sample_indices_ = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights > 0)
        whole = len(self.sample_indices_) == X.shape[0]
        kept = X if whole else X[self.sample_indices_]
        self._fit_X = kept[:, self.sample_indices_] if self._pairwise() and not whole else kept
        self._row_weight = None if weights is None else weights[self.sample_indices_]
        self.n_samples_fit_ = self._fit_X.shape[0]
        self.effective_metric_, self.effective_metric_params_ = self._effective()
        self._require_squares()
        self._search = self._prepare()
        self._issue(
            "C",
            neighbour_claims(self, self._fit_X),
            problem={"k": int(self.n_neighbors), "rows": self.n_samples_fit_, **problem},
            model=("n_samples_fit_",),
            data=fingerprint,
        )

    def _require_squares(self) -> None:
        """Refuse rows so near each other that the squares of their differences are all zero."""
        X = self._fit_X
        if self._kernel_given() is not None or self.effective_metric_ != "euclidean" or not X.shape[0]:
            return
        largest = float(abs(X).max())
        if 0 < largest < SMALLEST:
            raise InvalidData(
                f"{type(self).__name__}: squares of entries of X, at most {largest:.2g}, are zero in floating point; multiply its "
                "columns by a constant."
            )

    def _prepare(self) -> Search:
        given, who = self._kernel_given(), type(self).__name__
        if given is not None:
            self.kernel_ = resolve(given, gamma="scale", X=self._fit_X, who=who)
            return kernel_search(who, self.kernel_, self._fit_X)
        return search_for(
            self._fit_X, algorithm=self.algorithm, metric=self.metric, p=self.p, metric_params=self.metric_params
        )

    def __getstate__(self):
        """Leave out the search: it is made again from the rows."""
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
            raise InvalidParameter(type(self).__name__, "kernel", "None where the metric is a kernel", self.kernel)
        return self.metric

    def _pairwise(self) -> bool:
        return self.kernel is None and isinstance(self.metric, str) and self.metric == "precomputed"

    def _effective(self) -> tuple[Any, dict]:
        """Return scikit-learn's name of the distance and its options."""
        options = dict(self.metric_params or {})
        if self.metric != "minkowski":
            return self.metric, options
        p = options.pop("p", self.p)
        simple = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
        return (simple, options) if simple and not options else ("minkowski", {"p": p, **options})

    def _takes_strings(self) -> bool:
        given = self._kernel_given()
        return isinstance(given, Kernel) and given.takes == "strings"

    def _read_queries(self, X):
        check_is_fitted(self)
        return (
            read_strings(type(self).__name__, X) if self._takes_strings() else read_data(self, X, reset=False, **READ)
        )

    def _enough(self, k: int, available: int) -> None:
        if k > available:
            raise InvalidData(
                f"{type(self).__name__}: Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {available}: ask for fewer neighbours, or fit more rows."
            )

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Return the nearest training rows of each row of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_queries, n_features), optional
            Rows; without it the training rows, none of which is a neighbour of itself.
        n_neighbors : int or None, default=None
            How many; None is the parameter of the estimator.
        return_distance : bool, default=True
            Return distances as well.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Only if ``return_distance``; nearest first.
        indices : ndarray of shape (n_queries, n_neighbors)
            Places of the neighbours in the training data; of two at the same distance the lower index comes first.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not COUNT.allows(k):
            raise InvalidParameter(type(self).__name__, "n_neighbors", COUNT.words, k)
        if X is None:
            self._enough(k, self.n_samples_fit_ - 1)
            distances, indices = _without_self(*self._find(self._fit_X, k + 1))
        else:
            Q = self._read_queries(X)
            self._enough(k, self.n_samples_fit_)
            distances, indices = self._find(Q, k)
        indices = self.sample_indices_[indices]
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """Return the neighbours as a sparse matrix of ones, or of distances with ``mode="distance"``."""
        if mode not in ("connectivity", "distance"):
            raise InvalidParameter(type(self).__name__, "mode", "'connectivity' or 'distance'", mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        values = np.ones(distances.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, distances.size + 1, distances.shape[1])
        return sparse.csr_matrix((values, indices.ravel(), starts), shape=(len(distances), self._n_rows))

    def _voters(self, X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances, positions among the kept rows, and how many times each neighbour counts (n_queries, m)."""
        Q, k = self._read_queries(X), self.n_neighbors
        if self._row_weight is None:
            self._enough(k, self.n_samples_fit_)
            distances, indices = self._find(Q, k)
            return distances, indices, np.ones(indices.shape)
        total = float(np.sum(self._row_weight))
        if total < k * (1 - 1e-12):
            raise InvalidData(
                f"{type(self).__name__}: n_neighbors = {k} exceeds the sum {total:g} of sample_weight; a weight is a "
                "number of repetitions, so ask for fewer neighbours or scale the weights."
            )
        m = min(k, self.n_samples_fit_)
        while True:
            distances, indices = self._find(Q, m)
            counts = self._row_weight[indices]
            before = np.cumsum(counts, axis=1) - counts
            if m == self.n_samples_fit_ or np.all(before[:, -1] + counts[:, -1] >= k):
                return distances, indices, np.clip(k - before, 0.0, counts)
            m = min(2 * m, self.n_samples_fit_)

    def _shares(self, distances: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the weight of each neighbour's vote: repetitions times what ``weights`` makes of the distance."""
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
                f"{type(self).__name__}: weights must return one number a distance, shape {distances.shape}; "
                f"got {found.shape}."
            )
        return found * counts

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._pairwise()
        tags.target_tags.required = True
        return tags


def _without_self(distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop each row from its own neighbours; if copies of it crowd it out, drop the last."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)


def read_training(estimator, X, y, **options):
    """Check the parameters and read the training data."""
    check_params(estimator)
    if not estimator._takes_strings():
        return read_data(estimator, X, y, **READ, **options)
    who, y = type(estimator).__name__, np.asarray(y)
    X = read_strings(who, X)
    if len(y) != len(X):
        raise InvalidData(f"{who}: X has {len(X)} elements and y {len(y)}; one target an element is needed.")
    return X, y
