"""Samples of vectors: validation, inner products of dense and sparse rows, and distances with little cancellation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from surefit.core.errors import InvalidData
from surefit.core.threads import LINES, map_parts

DENSE_ENTRIES = 2**22  # a sparse factor of at most this size is made dense for a product
TILE = 2**16  # entries that are processed together, so that they stay in the cache


def read_vectors(who: str, X) -> Any:
    """Return a sample of vectors as a float64 (or sparse CSR) matrix, one row per vector."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and X.size and np.isfinite(np.sum(X)):
        return X  # validated before; the sum is cheap and detects values that are not finite
    try:
        return check_array(X, accept_sparse="csr", dtype=np.float64)
    except ValueError as error:
        raise InvalidData(f"{who}: a sample is a table of finite numbers, one row per vector. {error}") from None


def products(A, B) -> np.ndarray:
    """Return the inner products of the rows of ``A`` with those of ``B``, as a dense array."""
    if A is B and not sparse.issparse(A):
        return A @ A.T  # half the work
    if not (sparse.issparse(A) or sparse.issparse(B)):
        values = np.empty((len(A), len(B)), dtype=np.result_type(A, B))

        def part(start: int, stop: int) -> None:
            np.matmul(A[start:stop], B.T, out=values[start:stop])

        map_parts(part, values.shape, LINES)
        return values
    if sparse.issparse(A) and (not sparse.issparse(B) or B.shape[0] * B.shape[1] <= DENSE_ENTRIES):
        return np.asarray(A @ (B.toarray() if sparse.issparse(B) else B).T)
    if not sparse.issparse(A) or A.shape[0] * A.shape[1] <= DENSE_ENTRIES:
        return np.ascontiguousarray(np.asarray(B @ (A.toarray() if sparse.issparse(A) else A).T).T)
    return np.ascontiguousarray((A @ B.T).toarray())


def in_parts(operation: np.ufunc, values: np.ndarray, number: float) -> np.ndarray:
    """Return ``operation(values, number)``, computed in parts that threads share if there are many values."""
    found = np.empty_like(values)

    def part(start: int, stop: int) -> None:
        operation(values[start:stop], number, out=found[start:stop])

    map_parts(part, (len(values), values.size // max(1, len(values))), 1)
    return found


def square_norms(A) -> np.ndarray:
    """Return the squared norms of the rows, in float64."""
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", A, A, dtype=np.float64)


def dense(A) -> np.ndarray:
    """Return the rows as a dense array."""
    return A.toarray() if sparse.issparse(A) else A


def center_of(A) -> np.ndarray:
    """Return the point from which distances are computed: near the mean of dense rows.

    Each coordinate is a multiple of the power of two below the column's deviation. Few digits are enough to be near the mean, and the
    subtraction is then exact, so that integers keep exact distances.
    """
    mean, deviation = np.mean(A, axis=0, dtype=np.float64), np.std(A, axis=0, dtype=np.float64)
    grid = np.exp2(np.floor(np.log2(np.maximum(deviation, np.finfo(np.float64).tiny))))
    spread = np.abs(mean) < 2.0**52 * grid  # otherwise the column is constant, up to rounding
    return np.where(spread, np.rint(mean / np.where(spread, grid, 1.0)) * grid, A[0])


def negative_half_squares(P: np.ndarray, a: np.ndarray, b: np.ndarray, then=None) -> None:
    """Convert inner products to ``-|x - y|^2 / 2`` in place; ``a`` and ``b`` are half the squared norms.

    The two norms are added first, which keeps a symmetric matrix exactly symmetric. ``then`` processes each tile in place while it is in
    the cache.
    """
    step = max(1, TILE // max(1, P.shape[1]))

    def part(first: int, last: int) -> None:
        for start in range(first, last, step):
            tile = P[start : min(start + step, last)]
            tile -= a[start : min(start + step, last), None] + b
            np.minimum(tile, 0.0, out=tile)
            if then is not None:
                then(tile)

    map_parts(part, P.shape, 1)


def from_center(A, B) -> tuple[Any, Any]:
    """Return both samples relative to a point near the second one, or to the first one if it is a single row.

    Equal samples remain one object.
    """
    if sparse.issparse(A) or sparse.issparse(B):
        return A, B
    if A.shape[0] == 1 and A is not B:
        return A - A, B - A
    center = center_of(B)
    near = B - center.astype(B.dtype)
    return near if A is B else A - center.astype(A.dtype), near


def square_distances(A, B) -> np.ndarray:
    """Return the squared distances between the rows of ``A`` and ``B``, by one matrix product relative to a common center."""
    A, B = from_center(A, B)
    P = products(A, B)
    b = square_norms(B) / 2
    negative_half_squares(P, b if A is B else square_norms(A) / 2, b)
    P *= -2.0
    return P
