"""How the nearest rows are found: one object for each kind of distance, all with the same answer and tie rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances

from surefit.core.errors import InvalidParameter
from surefit.core.threads import count_threads
from surefit.kernels import Kernel
from surefit.kernels.apart import apart
from surefit.kernels.distances import require_features
from surefit.solvers.nearest_neighbours import Rows, least, nearest, prepare, select_by

WIDEST_TREE = 8  # columns up to which a tree passes over most rows
FEWEST_FOR_TREE = 2000
#: Distances that a tree knows, with their exponent.
EXPONENTS = {"manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "euclidean": 2.0, "l2": 2.0, "chebyshev": np.inf}


class Search(Protocol):
    """What all searches can do."""

    def nearest(self, Q: Any, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the ``k`` nearest rows, by distance and then by index."""
        ...


class Tiles(NamedTuple):
    """Euclidean distances by matrix products in single precision, decided in double precision."""

    rows: Rows

    def nearest(self, Q, k, n_jobs):
        """See :class:`Search`."""
        return nearest(self.rows, Q, k, n_jobs)


class Tree(NamedTuple):
    """Distances of Minkowski's kind by a k-d tree; what the tree leaves open is decided by all rows."""

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
            found = np.sort(np.asarray(found).reshape(len(open_rows), wanted), axis=1)  # by index: first of equals wins
            exact = minkowski(Q[open_rows], self.X[found], self.p)
            values, places = least(exact, k)
            # The tree returned the nearest by its own rounding: all rows up to the last of them are known, if it stands apart.
            settled = np.full(len(open_rows), True) if wanted == n else values[:, -1] * (1 + 1e-9) < exact.max(axis=1)
            done = open_rows[settled]
            distances[done] = values[settled]
            indices[done] = np.take_along_axis(found, places, axis=1)[settled]
            open_rows, wanted = open_rows[~settled], min(4 * wanted, n)
        return distances, indices


class Pairs(NamedTuple):
    """Distances that a function gives for two sets of rows."""

    distances: Callable[[Any], np.ndarray]  # (queries, rows) of a block of queries
    n: int

    def nearest(self, Q, k, n_jobs):
        """See :class:`Search`."""
        return select_by(lambda start, stop: self.distances(Q[start:stop]), Q.shape[0], self.n, k, n_jobs)


def minkowski(Q: np.ndarray, candidates: np.ndarray, p: float) -> np.ndarray:
    """Return the distances of each query to its own candidates, (queries, candidates, columns)."""
    gaps = np.abs(np.asarray(candidates, dtype=np.float64) - np.asarray(Q, dtype=np.float64)[:, None, :])
    if p == 2:
        return np.sqrt(np.sum(gaps * gaps, axis=2))
    if p == 1:
        return np.sum(gaps, axis=2)
    return np.max(gaps, axis=2) if np.isinf(p) else np.sum(gaps**p, axis=2) ** (1 / p)


def search_for(X: Any, *, algorithm: str, metric: Any, p: float, metric_params: dict | None) -> Search:
    """Return the search that fits the distance and the shape of the rows."""
    n, d = X.shape
    if metric == "precomputed":
        return Pairs(lambda Q: Q.toarray() if sparse.issparse(Q) else Q, n)
    exponent = _exponent(metric, p, metric_params)
    if exponent is None or sparse.issparse(X):
        return Pairs(_by_name(X, metric, p, metric_params), n)
    use_tree = algorithm in ("kd_tree", "ball_tree") or (
        algorithm == "auto" and d <= WIDEST_TREE and n >= FEWEST_FOR_TREE
    )
    if use_tree and d > 0:
        return Tree(cKDTree(np.asarray(X, dtype=np.float64)), X, exponent)
    if exponent == 2:
        return Tiles(prepare(X))
    return Pairs(_by_name(X, metric, p, metric_params), n)


def kernel_search(who: str, kernel: Kernel, X: Any) -> Pairs:
    r"""Return the search by :math:`\|\Phi(x) - \Phi(t)\|^2 = k(x, x) - 2 k(x, t) + k(t, t)`."""
    require_features(who, kernel)
    if kernel.takes == "values":
        words = "a kernel that can be evaluated (precomputed values hold no k(x, x) of new rows; give distances as metric='precomputed')"
        raise InvalidParameter(who, "kernel", words, kernel)
    A = kernel.read(X)
    copies = np.arange(A.shape[0])
    if isinstance(A, np.ndarray) and A.dtype.kind == "f":
        rows, places = np.unique(A, axis=0, return_inverse=True)
        if len(rows) < len(
            A
        ):  # copies of a row must have the same distances to the last bit, whatever the order of a sum
            A, copies = rows, np.ravel(places)

    def distances(Q):
        return np.sqrt(apart(kernel, kernel.read(Q), A).squares)[:, copies]

    return Pairs(distances, X.shape[0])


def _exponent(metric: Any, p: float, metric_params: dict | None) -> float | None:
    if metric_params:
        return None
    return float(p) if metric == "minkowski" else EXPONENTS.get(metric) if isinstance(metric, str) else None


def _by_name(X: Any, metric: Any, p: float, metric_params: dict | None) -> Callable[[Any], np.ndarray]:
    options = dict(metric_params or {})
    if metric == "minkowski" and not sparse.issparse(X):
        options.setdefault("p", p)
    elif metric == "minkowski":
        metric = {1.0: "manhattan", 2.0: "euclidean"}.get(float(p), metric)
    return lambda Q: pairwise_distances(Q, X, metric=metric, **options)
