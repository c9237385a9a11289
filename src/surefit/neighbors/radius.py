"""Neighbors within a radius: the search, and common parts of the estimators that use it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidParameter
from surefit.neighbors.search import Pairs, Search, Tree, minkowski
from surefit.solvers.within_radius import scan, screen, screening_limits

CELLS = 2_000_000  # distances held in memory at a time
PRODUCTS = 200_000  # products of a block of queries with all rows, so that they stay in the cache
SAMPLED = 16  # queries whose neighbors are counted to choose between tree and scan
DENSE = 64  # the tree is slower than a scan if more than one row of this many is near
SHORT_SUM = 7  # features up to which NumPy adds in order, as the scan does, so that both give the same bits
EDGE = 1e-9  # the tree uses a slightly larger radius; distances are then compared in double precision


class Within(NamedTuple):
    """Rows within a radius of each query, sorted by index; those of query i are at ``starts[i]:starts[i + 1]``."""

    starts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    @property
    def queries(self) -> np.ndarray:
        """Return the query of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def parts(self, values: np.ndarray) -> np.ndarray:
        """Return one array per query, as an array of objects."""
        out = np.empty(len(self.starts) - 1, dtype=object)
        out[:] = np.split(values, self.starts[1:-1])
        return out

    def keep(self, chosen: np.ndarray) -> Within:
        """Return the chosen entries only."""
        counts = np.bincount(self.queries[chosen], minlength=len(self.starts) - 1)
        return Within(np.concatenate([[0], np.cumsum(counts)]), self.indices[chosen], self.distances[chosen])


def within(search: Search, X: Any, Q: Any, radius: Any) -> Within:
    """Return the rows of ``X`` whose distance from each query is at most ``radius``, a number or one per query."""
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), (Q.shape[0],))
    if isinstance(search, Tree):
        blocks = _by_scan(search.X, Q, radius) if _many_near(search, Q, radius) else _by_tree(search, Q, radius)
    elif isinstance(search, Pairs):
        blocks = _by_blocks(search, X, Q, radius)
    else:
        blocks = _by_products(X, Q, radius)
    counts, indices, distances = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Within(np.concatenate([[0], np.cumsum(counts)]), indices, distances)


def _by_tree(search: Tree, Q: np.ndarray, radius: np.ndarray):
    places = search.tree.query_ball_point(Q, radius * (1 + EDGE), p=search.p, return_sorted=True)
    for query, found, limit in zip(Q, places, radius, strict=True):
        candidates = np.asarray(found, dtype=np.int64)
        distances = minkowski(query[None], search.X[candidates][None], search.p)[0]
        near = distances <= limit
        yield np.array([np.count_nonzero(near)]), candidates[near], distances[near]


def _many_near(search: Tree, Q: np.ndarray, radius: np.ndarray) -> bool:
    """Return whether some of the queries have so many rows near that a scan of all rows takes less time than the tree."""
    n, d = search.X.shape
    if search.p != 2 or d > SHORT_SUM or not len(Q):
        return False
    some = slice(None, None, -(-len(Q) // SAMPLED))
    found = search.tree.query_ball_point(Q[some], radius[some], return_length=True)
    return bool(np.mean(found) * DENSE > n)


def _by_scan(X: np.ndarray, Q: Any, radius: np.ndarray):
    columns = np.ascontiguousarray(np.asarray(X, dtype=np.float64).T)
    size = max(1, CELLS // max(1, len(X)))
    indices, distances = np.empty(size * len(X), dtype=np.int64), np.empty(size * len(X))
    for start in range(0, len(Q), size):
        part = np.ascontiguousarray(Q[start : start + size], dtype=np.float64)
        counts = np.empty(len(part), dtype=np.int64)
        total = scan(columns, part, radius[start : start + size], counts, indices, distances)
        yield counts, indices[:total].copy(), distances[:total].copy()


def _by_products(X: np.ndarray, Q: Any, radius: np.ndarray):
    X = np.ascontiguousarray(X, dtype=np.float64)
    squares = np.einsum("ij,ij->i", X, X)
    size = max(1, PRODUCTS // max(1, len(X)))
    indices, distances = np.empty(size * len(X), dtype=np.int64), np.empty(size * len(X))
    for start in range(0, len(Q), size):
        part = np.ascontiguousarray(Q[start : start + size], dtype=np.float64)
        counts = np.empty(len(part), dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            limits = screening_limits(part, squares, radius[start : start + size])
            products = part @ X.T
            total = screen(X, squares, part, products, limits, radius[start : start + size], counts, indices, distances)
        yield counts, indices[:total].copy(), distances[:total].copy()


def _by_blocks(search: Pairs, X: Any, Q: Any, radius: np.ndarray):
    size = max(1, CELLS // max(1, X.shape[0]))
    for start in range(0, Q.shape[0], size):
        part = Q[start : start + size]
        D = search.distances(part)
        rows, columns = np.nonzero(D <= radius[start : start + size, None])
        yield np.bincount(rows, minlength=len(D)), columns.astype(np.int64), D[rows, columns]


class RadiusMixin:
    """Adds ``radius_neighbors`` to an estimator that has ``radius``; place it left of ``NeighborsBase``."""

    radius: float
    _search: Search

    def _within(self, Q, radius: Any) -> Within:
        if "_search" not in self.__dict__:
            self._search = self._prepare()  # type: ignore[attr-defined]
        return within(self._search, self._fit_X, Q, radius)  # type: ignore[attr-defined]

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """Return the training rows within a radius of each row of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_queries, n_features), optional
            Query rows; if None, the training rows, which are not neighbors of themselves.
        radius : float, array of one per row of X, or None, default=None
            Largest distance; None: the parameter of the estimator.
        return_distance : bool, default=True
            Return distances as well.
        sort_results : bool, default=False
            Sort by distance and then by index; otherwise by index.

        Returns
        -------
        distances : ndarray of n_queries arrays
            Only if ``return_distance``.
        indices : ndarray of n_queries arrays
            Indices of the neighbors in the training data.
        """
        found = self._found(X, radius, sort_results)
        indices = found.parts(self.sample_indices_[found.indices])  # type: ignore[attr-defined]
        return (found.parts(found.distances), indices) if return_distance else indices

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """Return the graph of neighbors as a sparse matrix of ones, or of distances with ``mode="distance"``.

        With ``sort_results`` the entries of a row are stored by increasing distance.
        """
        if mode not in ("connectivity", "distance"):
            raise InvalidParameter(type(self).__name__, "mode", "'connectivity' or 'distance'", mode)
        found = self._found(X, radius, sort_results)
        values = np.ones(len(found.indices)) if mode == "connectivity" else found.distances
        indices = self.sample_indices_[found.indices]  # type: ignore[attr-defined]
        shape = (len(found.starts) - 1, self._n_rows)  # type: ignore[attr-defined]
        return sparse.csr_matrix((values, indices, found.starts), shape=shape)

    def _found(self, X, radius, sort_results: bool = False) -> Within:
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        self._require_stored_rows("rows within a radius are found in memory only; use kneighbors")  # type: ignore[attr-defined]
        Q = self._fit_X if X is None else self._read_queries(X)  # type: ignore[attr-defined]
        limits = np.asarray(radius, dtype=np.float64)
        if limits.shape not in ((), (Q.shape[0],)) or not np.all(limits >= 0):
            raise InvalidParameter(type(self).__name__, "radius", "a number >= 0, or one per row of X", radius)
        found = self._within(Q, limits)
        if X is None:
            found = found.keep(found.indices != found.queries)
        if not sort_results:
            return found
        order = np.lexsort((found.indices, found.distances, found.queries))
        return Within(found.starts, found.indices[order], found.distances[order])
