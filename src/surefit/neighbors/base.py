"""Common parts of the nearest-neighbor estimators: parameters and the search."""

from __future__ import annotations

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
    require_powers,
    require_squares,
)
from surefit.neighbors.search import Search, finite_values, kernel_search, search_for
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
        if self._kernel_given() is None and self.effective_metric_ == "minkowski":
            require_powers(self, self._fit_X)
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
        self._require_stored_rows("a stored or copied model cannot access them; fit the model again")
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
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._pairwise()  # distances
        tags.input_tags.allow_nan = finite_values(self) == "allow-nan"
        tags.target_tags.required = True
        return tags
