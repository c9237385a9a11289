"""Operators of the gap theorem: products with coefficients and with dual variables, each with its rounding error.

A kernel operator has ``times(beta)`` and ``diagonal()``; a matrix has ``times(w)``, ``transposed(theta, radii)``, ``norms(c)`` and
``columns(which, rows)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import UNIT, Enclosed, gamma, length
from surefit.checks.gap import loops, squared_loops
from surefit.checks.gap.equalities import Frame, frame_on_rows
from surefit.checks.judge import shared
from surefit.core.storage import is_sparse
from surefit.core.threads import blas_threads, map_blocks

#: Largest loss of a product by underflow.
TINY = 2.0**-1074
SMALL_BLOCK = 1 << 18  # entries of a block that is converted or shifted; it fits in the cache
THREADED = 1 << 21  # entries from which threads take less time than their start


class _Framed:
    """Cache for the last frame of free columns, which several targets share."""

    _kept: tuple[Any, ...] | None = None
    roundings = 0  # number of rounding errors in each entry

    def frame(self, which: np.ndarray, ones: bool, weights: np.ndarray) -> Frame | None:
        """Return nearly orthonormal combinations of some columns (and a constant one), with weighted rows."""
        kept = self._kept
        if kept is None or not (
            kept[1] == ones and np.array_equal(kept[0], which) and np.array_equal(kept[2], weights)
        ):
            self._kept = which, ones, weights, frame_on_rows(self, which, ones, weights)
        assert self._kept is not None
        return self._kept[3]


class _Matrix(_Framed):
    """Matrix for the gap theorem; ``A`` has contiguous rows, which are the rows or the columns of the matrix."""

    by_rows: bool
    shape: tuple[int, int]
    column_terms: int  # number of terms in the longest sum over a column
    _by_columns: Callable[..., Any]  # products with a vector, their absolute sizes, and squared norms of the columns
    _weighted_squares: Callable[..., Any]
    _squares: np.ndarray | None = None  # squared norms of the columns, after the first pass
    _last: tuple[np.ndarray, Enclosed] | None = None  # coefficients and their product, cached for several claims

    def times(self, w: np.ndarray) -> Enclosed:
        """Enclose the product with coefficients."""
        if self._last is None or not np.array_equal(self._last[0], w):
            self._last = w.copy(), self._product(w)
        return self._last[1]

    def _product(self, w: np.ndarray) -> Enclosed:
        raise AttributeError("the matrix is dense or sparse")

    def transposed(self, theta: np.ndarray, radii: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the product of the transposed matrix with ``theta``, for each of the given ``radii`` of ``theta``.

        The contribution of the radii is bounded by the Cauchy-Schwarz inequality, so one pass is enough.
        """
        mid, size, squares = self._by_columns(theta)
        self._squares = squares
        k, norms = gamma(self.column_terms + 4), self.norms()
        lengths = np.array([[length(rad)] for rad in radii])
        return mid, (size * k + lengths * norms) * (1 + 4 * k) + self.shape[0] * TINY

    def norms(self, c: np.ndarray | None = None) -> np.ndarray:
        """Return upper bounds on the norms ``sqrt(sum_i c_i x_ij^2)`` of the columns."""
        weight = 1.0 if c is None else float(c.max(initial=0.0))
        if c is None or weight == c.min(initial=weight):  # the same for all rows
            if self._squares is None:
                self._squares = self._by_columns(np.zeros(self.shape[0]))[2]
            squares = self._squares
        else:
            squares = self._weighted_squares(c / weight) if weight > 0 else np.zeros(self.shape[1])
        return np.sqrt((squares + self.shape[0] * TINY) * weight) * (1 + gamma(self.column_terms + 8))


class Dense(_Matrix):
    """The matrix ``X - 1 shift'``; each entry has ``roundings`` rounding errors plus that of the subtraction."""

    def __init__(self, X: np.ndarray, shift: np.ndarray | None = None, roundings: int = 0) -> None:
        self.X, self.shift, self.shape, self.roundings = np.asarray(X), shift, np.shape(X), roundings
        self.by_rows = not self.X.flags.f_contiguous or self.X.flags.c_contiguous
        self.A = np.ascontiguousarray(self.X) if self.by_rows else self.X.T
        n, d = self.shape
        plain = shift is None and self.A.dtype == np.float64
        steps = [max(k, 1) if plain else max(loops.PART, SMALL_BLOCK // max(m, 1)) for k, m in ((n, d), (d, n))]
        step = steps[0] if self.by_rows else steps[1]
        self.pieces = [slice(start, start + step) for start in range(0, len(self.A), step)]
        # Radii do not depend on the memory order, so a proof in one order is valid in the other.
        self.piece_terms = max(-(-n // steps[0]), -(-d // steps[1]))
        terms = min(loops.PART, n) + -(-n // loops.PART) + 4
        self.column_terms = terms + self.piece_terms + roundings

    def blocks(self, A: np.ndarray, shift: np.ndarray | None) -> Iterator[Any]:
        """Yield slices of rows of ``A`` and those rows; ``shift`` is subtracted."""
        for piece in self.pieces:
            part = np.asarray(A[piece], dtype=np.float64)
            if shift is not None:
                part = part - (shift if self.by_rows else shift[piece, None])
            if len(part):
                yield piece, part

    def _product(self, w: np.ndarray) -> Enclosed:
        """Enclose the product with ``w``; columns with a zero coefficient are not read."""
        n, used = self.shape[0], w.nonzero()[0]
        few = len(used) < 0.5 * len(w)
        A, u, shift = self.A, w, self.shift
        if few:
            A, u = A[:, used] if self.by_rows else A[used], w[used]
            shift = None if shift is None else shift[used]
        mid, size = np.zeros(n), np.zeros(n)
        for piece, part in self.blocks(A, shift):
            if self.by_rows and len(part) == n:
                mid, size = loops.products(part, u)
            elif self.by_rows:
                mid[piece], size[piece] = loops.products(part, u)
            else:
                more = loops.sums(part, u[piece])
                mid, size = mid + more[0], size + more[1]
        k = gamma(len(used) + 4 + self.piece_terms + self.roundings)
        size *= k * (1 + 2 * k)
        size += len(used) * TINY
        return Enclosed(mid, size)

    def _by_columns(self, theta: np.ndarray) -> np.ndarray:
        found = np.zeros((3, self.shape[1]))
        for piece, part in self.blocks(self.A, self.shift):
            if self.by_rows:
                found += loops.sums(part, theta[piece])
            else:
                found[:, piece] = loops.dots(part, theta)
        return found

    def _weighted_squares(self, c: np.ndarray) -> np.ndarray:
        squares = np.zeros(self.shape[1])
        for piece, part in self.blocks(self.A, self.shift):
            if self.by_rows:
                squares += loops.sums(part * part, c[piece])[0]
            else:
                squares[piece] = loops.dots(part * part, c)[0]
        return squares

    def squared_sums(self, w: Any, b: float, y: Any, c: Any, weighted: bool) -> tuple[Any, Any, int, int]:
        """Return the sums of :mod:`surefit.checks.gap.squared_loops` in one pass, and the numbers of terms of the longest ones."""
        (n, d), height = self.shape, squared_loops.HEIGHT
        rows = max(2 * SMALL_BLOCK // d // height, 1) * height
        plain = self.shift is None and self.A.dtype == np.float64
        wide = plain and not self.by_rows and n <= height and n * d >= THREADED

        def block(start: int, stop: int) -> tuple[Any, Any]:
            rest = w, b, y[start:stop], c[start:stop], weighted
            if plain and not self.by_rows:
                return squared_loops.by_columns(self.A, start, *rest)
            part = np.asarray(self.A[start:stop] if self.by_rows else self.A[:, start:stop], dtype=np.float64)
            if self.shift is not None:
                part = part - (self.shift if self.by_rows else self.shift[:, None])
            if self.by_rows:
                return squared_loops.by_rows(part, *rest)
            return squared_loops.by_columns(np.ascontiguousarray(part), 0, *rest)

        found: list[Any]
        if wide:
            found = [squared_loops.by_wide_columns(self.A, w, b, y, c, weighted)]
        else:
            found = map_blocks(block, n, rows, blas_threads() if n * d >= THREADED else None)
        columns, scalars = found[0]
        for more in found[1:]:
            columns, scalars = columns + more[0], scalars + more[1]
        part = squared_loops.PART
        more = -(-min(n, rows) // part) + len(found) + self.roundings + 4
        return columns, scalars, squared_loops.part_terms(n) + more, min(n, part) + more

    def columns(self, which: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return some columns as a dense matrix, on some rows."""
        n, d = self.shape
        part = self.X if len(rows) == n and (rows == np.arange(n)).all() else self.X[rows]
        if len(which) < d or (which != np.arange(d)).any():
            part = part[:, which]
        found = np.array(part, dtype=np.float64, order="F")
        return found if self.shift is None else found - self.shift[which]

    def row_norms(self) -> np.ndarray:
        """Return upper bounds on the Euclidean norms of the rows."""
        X = self.X if self.shift is None else self.X - self.shift
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return np.sqrt(squares + self.shape[1] * TINY) * (1 + gamma(self.shape[1] + 4))


class Sparse(_Matrix):
    """A sparse matrix without shift."""

    shift = None

    def __init__(self, X: Any) -> None:
        self.X, self.shape, self.by_rows = X, X.shape, X.format == "csr"
        A = X if self.by_rows else X.tocsc()
        self.A = A.data.astype(np.float64, copy=False), A.indices, A.indptr
        self._inner, self._outer = int(np.max(np.diff(A.indptr), initial=0)), -1

    @property
    def row_terms(self) -> int:
        """Number of terms in the longest sum over a row."""
        return self._inner if self.by_rows else self._longest()

    @property
    def column_terms(self) -> int:  # type: ignore[override]
        """Number of terms in the longest sum over a column."""
        return self._longest() if self.by_rows else self._inner

    def _longest(self) -> int:
        """Return the number of terms of the longest sum across the storage; the first pass counts them."""
        if self._outer < 0:
            self._sums(np.zeros(len(self.A[2]) - 1))
        return self._outer

    def _sums(self, t: np.ndarray) -> np.ndarray:
        found = loops.sparse_sums(*self.A, t, self.shape[1] if self.by_rows else self.shape[0])
        self._outer = int(np.max(found[3], initial=0))
        return found[:3]

    def _product(self, w: np.ndarray) -> Enclosed:
        mid, size, _ = loops.sparse_dots(*self.A, w) if self.by_rows else self._sums(w)
        k = gamma(self.row_terms + 1)
        return Enclosed(mid, size * (k * (1 + 2 * k)) + self.row_terms * TINY)

    def _by_columns(self, theta: np.ndarray) -> np.ndarray:
        found = self._sums(theta) if self.by_rows else loops.sparse_dots(*self.A, theta)
        if not self.X.has_canonical_format:  # an entry may be stored in several parts
            found[2] = self._weighted_squares(np.ones(self.shape[0]))
        return found

    def _weighted_squares(self, c: np.ndarray) -> np.ndarray:
        size = abs(self.X)
        size.sum_duplicates()
        return np.asarray(size.multiply(size).T @ c).ravel() * (1 + gamma(self.column_terms))

    def columns(self, which: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return some columns as a dense matrix, on some rows."""
        return self.X.tocsr()[rows][:, which].toarray().astype(np.float64, copy=False)

    def row_norms(self) -> np.ndarray:
        """Return upper bounds on the Euclidean norms of the rows."""
        size = abs(self.X)
        squares = np.asarray(size.multiply(size).sum(axis=1)).ravel()
        return np.sqrt(squares + self.row_terms * TINY) * (1 + gamma(2 * self.row_terms + 4))


class Gram:
    """A kernel operator for a given matrix ``K``, known up to ``rad`` (0: the floats are exact)."""

    def __init__(self, K: np.ndarray, rad: Any = 0.0) -> None:
        self.K, self.rad, self.shape = np.asarray(K, dtype=np.float64), rad, np.shape(K)

    def times(self, beta: np.ndarray) -> Enclosed:
        """Enclose ``K beta``."""
        k, size = gamma(int(np.count_nonzero(beta)) + 2), np.abs(beta)
        off = self.rad @ size if np.ndim(self.rad) else self.rad * float(np.sum(size))
        return Enclosed(self.K @ beta, (np.abs(self.K) @ size * k + off) * (1 + 4 * k) + len(beta) * TINY)

    def diagonal(self) -> np.ndarray:
        """Return upper bounds on ``K_ii``."""
        off = np.diag(self.rad) if np.ndim(self.rad) else self.rad
        return (np.diag(self.K) + off) * (1 + 2 * UNIT)


def with_constant(X: Any) -> Any:
    """Return the matrix with an additional column of ones."""
    ones = np.ones((X.shape[0], 1))
    if is_sparse(X):
        return sparse.hstack([X, sparse.csr_array(ones)], format="csr")
    return np.hstack([np.asarray(X, dtype=np.float64), ones])


def operator_of(X: Any, shift: np.ndarray | None = None) -> Dense | Sparse:
    """Return the operator of a matrix; a sparse matrix must not have a shift."""
    return Sparse(X) if is_sparse(X) else Dense(X, shift)


@shared
def operator_on(certificate: Any, data: Any) -> Dense | Sparse:
    """Return the operator of the rows, which all claims share."""
    return operator_of(data.X)
