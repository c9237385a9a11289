"""Nearest-neighbor search: one class per kind of distance, all with the same results and tie rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import nan_euclidean_distances

from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidParameter
from surefit.core.threads import count_threads
from surefit.kernels import Kernel
from surefit.kernels.apart import apart
from surefit.kernels.distances import require_features
from surefit.solvers.nearest_neighbors import Rows, least, nearest, prepare, select_by

WIDEST_TREE = 8  # number of columns up to which a tree is efficient
FEWEST_FOR_TREE = 2000
#: Distances that a tree supports, with their exponent.
EXPONENTS = {"manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "euclidean": 2.0, "l2": 2.0, "chebyshev": np.inf}


class Search(Protocol):
    """Interface of all search classes."""

    def nearest(self, Q: Any, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the ``k`` nearest rows, by distance and then by index."""
        ...


class Tiles(NamedTuple):
    """Euclidean distances by matrix products in single precision, with decisions in double precision."""

    rows: Rows

    def nearest(self, Q, k, n_jobs):
        """See :class:`Search`."""
        return nearest(self.rows, Q, k, n_jobs)


class Tree(NamedTuple):
    """Minkowski distances by a k-d tree; undecided queries are compared with all rows."""

    tree: cKDTree
    X: np.ndarray
    p: float

    def nearest(self, Q, k, n_jobs):
        """See :class:`Search`."""
        n = len(self.X)
        distances, indices = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        open_rows, wanted = np.arange(len(Q)), min(k + 1, n)
        while len(open_rows):
            _, found = self.tree.query(Q[open_rows], wanted, p=self.p, workers=count_threads(n_jobs))
            found = np.sort(np.asarray(found).reshape(len(open_rows), wanted), axis=1)  # ties go to the first
            exact = minkowski(Q[open_rows], self.X[found], self.p)
            values, places = least(exact, k)
            # The order of the tree is correct up to rounding: if the last row is separated, the others are known.
            settled = np.full(len(open_rows), True) if wanted == n else values[:, -1] * (1 + 1e-9) < exact.max(axis=1)
            done = open_rows[settled]
            distances[done] = values[settled]
            indices[done] = np.take_along_axis(found, places, axis=1)[settled]
            open_rows, wanted = open_rows[~settled], min(4 * wanted, n)
        return distances, indices


class Pairs(NamedTuple):
    """Distances given by a function of two sets of rows."""

    distances: Callable[[Any], np.ndarray]  # (queries, rows) of a block of queries
    n: int

    def nearest(self, Q, k, n_jobs):
        """See :class:`Search`."""
        return select_by(lambda start, stop: self.distances(Q[start:stop]), Q.shape[0], self.n, k, n_jobs)


def minkowski(Q: np.ndarray, candidates: np.ndarray, p: float) -> np.ndarray:
    """Return the distances of each query to its own candidates, which have shape (queries, candidates, columns)."""
    gaps = np.abs(np.asarray(candidates, dtype=np.float64) - np.asarray(Q, dtype=np.float64)[:, None, :])
    if p == 2:
        return np.sqrt(np.sum(gaps * gaps, axis=2))
    if p == 1:
        return np.sum(gaps, axis=2)
    return np.max(gaps, axis=2) if np.isinf(p) else np.sum(gaps**p, axis=2) ** (1 / p)


def search_for(X: Any, *, algorithm: str, metric: Any, p: float, metric_params: dict | None) -> Search:
    """Return the search for the given distance and shape of the rows."""
    n, d = X.shape
    if metric == "precomputed":
        return Pairs(listed, n)
    exponent = _exponent(metric, p, metric_params)
    if exponent is None or sparse.issparse(X):
        return Pairs(by_name(X, metric, p, metric_params), n)
    use_tree = algorithm in ("kd_tree", "ball_tree") or (
        algorithm == "auto" and d <= WIDEST_TREE and n >= FEWEST_FOR_TREE
    )
    if use_tree and d > 0:
        return Tree(cKDTree(np.asarray(X, dtype=np.float64)), X, exponent)
    if exponent == 2:
        return Tiles(prepare(X))
    return Pairs(by_name(X, metric, p, metric_params), n)


def listed(Q: Any) -> np.ndarray:
    """Return given distances as a dense array; pairs that a sparse graph does not store have infinite distance."""
    if not sparse.issparse(Q):
        return np.asarray(Q)
    Q = Q.tocsr()
    found = np.full(Q.shape, np.inf)
    found[np.repeat(np.arange(Q.shape[0]), np.diff(Q.indptr)), Q.indices] = Q.data
    return found


def kernel_search(who: str, kernel: Kernel, X: Any) -> Pairs:
    r"""Return the search by :math:`\|\Phi(x) - \Phi(t)\|^2 = k(x, x) - 2 k(x, t) + k(t, t)`."""
    require_features(who, kernel)
    if kernel.takes == "values":
        words = "a kernel that can be evaluated (for precomputed values, pass distances with metric='precomputed')"
        raise InvalidParameter(who, "kernel", words, kernel)
    A = kernel.read(X)
    copies = np.arange(A.shape[0])
    if isinstance(A, np.ndarray) and A.dtype.kind == "f":
        rows, places = unique_rows(A, return_inverse=True)
        if len(rows) < len(A):  # ):  # duplicate rows must have bitwise equal distances, for any order of summation
            A, copies = rows, np.ravel(places)

    def distances(Q):
        return np.sqrt(apart(kernel, kernel.read(Q), A).squares)[:, copies]

    return Pairs(distances, X.shape[0])


def _exponent(metric: Any, p: float, metric_params: dict | None) -> float | None:
    if metric_params:
        return None
    return float(p) if metric == "minkowski" else EXPONENTS.get(metric) if isinstance(metric, str) else None


def by_name(X: Any, metric: Any, p: float, metric_params: dict | None) -> Callable[[Any], np.ndarray]:
    """Return a function that maps a block of queries to their distances to all rows."""
    options = dict(metric_params or {})
    if hasattr(metric, "pairwise"):  # a DistanceMetric of scikit-learn
        return lambda Q: metric.pairwise(np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64))
    if isinstance(metric, str) and metric == "nan_euclidean":  # rows without a common column are infinitely far apart
        return lambda Q: np.nan_to_num(nan_euclidean_distances(Q, X, **options), nan=np.inf)
    if metric == "minkowski" and not sparse.issparse(X):
        options.setdefault("p", p)
    elif metric == "minkowski":
        metric = {1.0: "manhattan", 2.0: "euclidean"}.get(float(p), metric)
    return lambda Q: pairwise_distances(Q, X, metric=metric, **options)


def finite_values(estimator) -> bool | str:
    """Return whether missing values are rejected; the metric "nan_euclidean" ignores them."""
    named = isinstance(estimator.metric, str) and estimator.metric == "nan_euclidean"
    return "allow-nan" if named and estimator.kernel is None else True


def without_self(distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop each row from its own neighbors; if it is not among them because of duplicates, drop the last."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)
