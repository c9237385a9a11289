"""Products with a feature matrix, dense or sparse, for Newton's method."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.fingerprint import largest_entry
from surefit.core.jit import compiled
from surefit.core.threads import sum_blocks
from surefit.operators import as_design, gram_rows
from surefit.solvers.newton.picked import Picker

BLOCK = 1 << 14  # rows per partial sum
NARROW = 300  # columns up to which compiled products are used
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
        self.shape = X.shape
        # below this width, loops over rows are faster than BLAS
        self._narrow = not self.sparse and X.flags.c_contiguous and 0 < X.shape[1] <= NARROW
        self._picker = Picker(X) if self.sparse else None
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # coefficients and their product, of few dense columns

    def times(self, W: np.ndarray) -> np.ndarray:
        """Return ``X W'``; callers do not change it, because the last product is cached."""
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
        if not self._narrow:
            return np.asarray(self.X @ w)
        if self._last is None or not np.array_equal(self._last[0], w):
            self._last = w.copy(), _dots(self.X, w)
        return self._last[1]

    def _sums(self, v: np.ndarray) -> np.ndarray:
        if not self._narrow:
            return np.asarray(self.X.T @ v)
        return sum_blocks(lambda start, stop: _sums(self.X[start:stop], v[start:stop]), len(v), BLOCK)

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
        design = self.design
        if len(used) < FEW_ROWS * self.shape[0] and not self.sparse:
            design, weights = as_design(self.X[used]), weights[used]
        scales = np.ones(self.shape[1])
        return gram_rows(design, columns, 0, np.ascontiguousarray(weights), means, scales, _nothing)

    @cached_property
    def peaks(self) -> np.ndarray:
        """Largest absolute value of each column."""
        if self.sparse and self.X.format == "csr":
            return _peaks(self.X.data, self.X.indices, np.zeros(self.shape[1]))
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
        if self.sparse and self.X.format == "csr":
            return _curvature_times(self.X.data, self.X.indices, self.X.indptr, curvatures, v, center)
        u = np.asarray(self.X @ v)
        if center:
            u = u - (curvatures @ u) / max(curvatures.sum(), 1e-300)
        return np.asarray(self.X.T @ (curvatures * u))

    @cached_property
    def _squares(self):
        return self.X.multiply(self.X).tocsr() if self.sparse else None

    def square_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return ``sum_i weights_i x_ij^2`` for every column."""
        if self.sparse:
            return np.asarray(self._squares.T @ weights).ravel()
        return np.einsum("ij,ij,i->j", self.X, self.X, weights, optimize=False)

    def part(self, step: int) -> Rows:
        """Return every ``step``-th row."""
        return Rows(self.X[::step] if self.sparse else np.ascontiguousarray(self.X[::step]))


@compiled(relaxed=True)
def _dots(X, w):
    out = np.empty(len(X))
    for i in range(len(out)):
        dot = 0.0
        for j in range(len(w)):
            dot += X[i, j] * w[j]
        out[i] = dot
    return out


@compiled(relaxed=True)
def _sums(X, v):
    out = np.zeros(X.shape[1])
    for i in range(len(v)):
        for j in range(len(out)):
            out[j] += v[i] * X[i, j]
    return out


@compiled
def _curvature_times(data, indices, indptr, curvatures, v, center):
    # rows without curvature are skipped; a row is still in cache when it is scattered
    n = len(indptr) - 1
    out = np.zeros(len(v))
    scores = np.empty(n if center else 0)
    mean, total = 0.0, 0.0
    if center:
        for i in range(n):
            if curvatures[i] > 0.0:
                dot = 0.0
                for entry in range(indptr[i], indptr[i + 1]):
                    dot += data[entry] * v[indices[entry]]
                scores[i] = dot
                mean += curvatures[i] * dot
                total += curvatures[i]
        mean = mean / total if total > 0.0 else 0.0
    for i in range(n):
        if curvatures[i] > 0.0:
            if center:
                dot = scores[i] - mean
            else:
                dot = 0.0
                for entry in range(indptr[i], indptr[i + 1]):
                    dot += data[entry] * v[indices[entry]]
            dot *= curvatures[i]
            for entry in range(indptr[i], indptr[i + 1]):
                out[indices[entry]] += dot * data[entry]
    return out


@compiled
def _peaks(data, indices, largest):
    """Compute the largest absolute value of each column, in storage order, without converting to columns."""
    for k in range(len(data)):
        largest[indices[k]] = max(largest[indices[k]], abs(data[k]))
    return largest
