"""Products with a feature matrix, dense or sparse, for Newton's method."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.fingerprint import largest_entry
from surefit.core.jit import compiled
from surefit.core.threads import TALL, THREADED, blas_threads, map_parts, sum_blocks, tree_sum
from surefit.operators import as_design, gram_rows
from surefit.solvers.newton import csr_products
from surefit.solvers.newton.picked import Picker

BLOCK = 1 << 14  # rows per partial sum
LEAST = 1024  # dense rows per part that threads share
NARROW = 300  # columns up to which compiled products are used
PRODUCTS = 16  # products of columns that take as long as a pass over one of them
FEW_ROWS = 0.5  # fraction of rows with curvature below which the others are excluded from a Gram matrix


def _nothing() -> None:
    pass


class Rows:
    """Feature matrix (dense, CSR or CSC) with its products; scores are (n, K), coefficients (K, d)."""

    def __init__(self, X: Any):
        if sparse.issparse(X):
            X = X if X.dtype == np.float64 else X.astype(np.float64)
        else:
            X = np.asarray(X, dtype=np.float64)
        self.X = X
        self.sparse = sparse.issparse(X)
        self._csr = self.sparse and X.format == "csr"
        self.shape = X.shape
        # below this width, loops over rows are faster than BLAS
        self._narrow = not self.sparse and X.flags.c_contiguous and 0 < X.shape[1] <= NARROW
        self._picker = Picker(X) if self.sparse else None
        self._kept: tuple[np.ndarray, np.ndarray] | None = None  # coefficients and their product, until it is used

    def times(self, W: np.ndarray, keep: bool = False) -> np.ndarray:
        """Return ``X W'``; with ``keep``, the next product with the same coefficients is the same array, so do not change it."""
        kept, self._kept = self._kept, None
        found = kept[1] if kept is not None and np.array_equal(kept[0], W) else self._product(W)
        if keep:
            self._kept = W.copy(), found
        return found

    def _product(self, W: np.ndarray) -> np.ndarray:
        if W.shape[0] == 1:
            w = W[0]
            if self._picker is not None and 4 * np.count_nonzero(w) < len(w):
                used = np.flatnonzero(w)
                picked = self._picker.last  # columns of the last Gram matrix
                if picked is not None and picked.holds(used):
                    return picked.times(w[picked.columns])[:, None]
                if self.X.format == "csc":
                    return (self.X[:, used] @ w[used])[:, None]
            return self._times(w)[:, None]
        return np.asarray(self.X @ W.T)

    def _times(self, w: np.ndarray) -> np.ndarray:
        if self._csr:
            return csr_products.dots(self.X, w)
        if not self._narrow:
            return np.asarray(self.X @ w)
        found = np.empty(self.shape[0])
        map_parts(lambda start, stop: _dots(self.X[start:stop], w, found[start:stop]), self.shape, LEAST)
        return found

    def _sums(self, v: np.ndarray) -> np.ndarray:
        if self._csr:
            return csr_products.sums(self.X, v, self.shape[1])
        if not self._narrow:
            return np.asarray(self.X.T @ v)
        threads = blas_threads() if self.X.size >= THREADED else None
        return sum_blocks(lambda start, stop: _sums(self.X[start:stop], v[start:stop]), len(v), BLOCK, threads)

    def transposed(self, V: np.ndarray) -> np.ndarray:
        """Return ``V' X``."""
        if V.shape[1] == 1:
            return self._sums(np.ascontiguousarray(V[:, 0]))[None, :]
        return np.asarray(self.X.T @ V).T

    @cached_property
    def design(self):
        """The matrix as a design, which provides Gram matrices of some columns."""
        return as_design(self.X)

    def gram(self, columns: np.ndarray, weights: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of ``columns``, with weighted rows and columns centered at ``means``."""
        used = np.flatnonzero(weights)
        if len(used) == 0:
            return np.zeros((len(columns), len(columns)))
        if self._picker is not None:
            gram = self._picker.pick(columns).gram(weights, means[columns])
            if gram is not None:
                return gram
        scales, few = np.ones(self.shape[1]), len(used) < FEW_ROWS * self.shape[0] and not self.sparse
        weights = np.ascontiguousarray(weights[used] if few else weights)

        def part(start: int, stop: int) -> np.ndarray:
            if few:
                design = as_design(self.X.take(used[start:stop], axis=0))
            else:
                design = self.design if stop - start == len(weights) else as_design(self.X[start:stop])
            return gram_rows(design, columns, 0, weights[start:stop], means, scales, _nothing)

        if self.sparse or not self.X.flags.c_contiguous:
            return part(0, len(weights))
        shape, least = (len(weights), len(columns)), max(LEAST, TALL * len(columns))
        return tree_sum(map_parts(part, shape, least, 1 + len(columns) // PRODUCTS))

    @cached_property
    def peaks(self) -> np.ndarray:
        """Largest absolute value of each column."""
        if self._csr:
            return _peaks(self.X.data, self.X.indices, np.zeros(self.shape[1]))
        if self._narrow:
            return np.max(map_parts(lambda start, stop: _largest(self.X[start:stop]), self.shape, LEAST), axis=0)
        highest, lowest = self.X.max(axis=0), self.X.min(axis=0)
        if self.sparse:
            highest, lowest = highest.toarray().ravel(), lowest.toarray().ravel()
        return np.maximum(highest, -lowest)

    @cached_property
    def peak(self) -> float:
        """Largest absolute value of all entries."""
        return largest_entry(self.X)

    def weighted_means(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted means of the columns; unweighted means if all weights are zero."""
        total = weights.sum()
        if not total > 0:
            return np.asarray(self.X.mean(axis=0)).ravel()
        return self._sums(weights) / total

    def curvature_times(self, curvatures: np.ndarray, v: np.ndarray, center: bool) -> np.ndarray:
        """Return ``X' D (X v - mean)`` for curvatures ``D``, with the D-weighted mean or zero."""
        if self._csr:
            return csr_products.curvature_times(self.X, curvatures, v, center)
        u = np.asarray(self.X @ v)
        if center:
            u = u - (curvatures @ u) / max(curvatures.sum(), 1e-300)
        return np.asarray(self.X.T @ (curvatures * u))

    @cached_property
    def _squares(self):
        return self.X.multiply(self.X).tocsr()

    def square_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return ``sum_i weights_i x_ij^2`` for every column."""
        if not self.sparse:
            return np.einsum("ij,ij,i->j", self.X, self.X, weights, optimize=False)
        if self._csr:
            return csr_products.square_sums(self.X, weights, self.shape[1])
        return np.asarray(self._squares.T @ weights).ravel()

    def part(self, step: int) -> Rows:
        """Return every ``step``-th row."""
        return Rows(self.X[::step] if self.sparse else np.ascontiguousarray(self.X[::step]))


@compiled(relaxed=True)
def _dots(X, w, out):
    for i in range(len(out)):
        dot = 0.0
        for j in range(len(w)):
            dot += X[i, j] * w[j]
        out[i] = dot


@compiled(relaxed=True)
def _sums(X, v):
    out = np.zeros(X.shape[1])
    for i in range(len(v)):
        for j in range(len(out)):
            out[j] += v[i] * X[i, j]
    return out


@compiled
def _largest(X):
    out = np.zeros(X.shape[1])
    for i in range(len(X)):
        for j in range(len(out)):
            size = abs(X[i, j])
            out[j] = size if size > out[j] else out[j]
    return out


@compiled
def _peaks(data, indices, largest):
    """Compute the largest absolute value of each column, in storage order, without converting to columns."""
    for k in range(len(data)):
        largest[indices[k]] = max(largest[indices[k]], abs(data[k]))
    return largest
