"""Weighted means and centered second moments in one pass over blocks of rows, without copying the data.

Large data are divided into fixed parts, which threads share; the sums of the parts are added in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.threads import map_parts, tree_sum

BLOCK_BYTES = 4 * 2**20  # a block of rows that stays in the cache
SAMPLED = 256  # number of rows from which the distance to the origin is estimated


class Moments(NamedTuple):
    """First and second moments of the rows (x, y), about the means with an intercept, otherwise about zero."""

    total: float  # sum of the weights
    x_mean: np.ndarray
    y_mean: np.ndarray
    gram: np.ndarray  # sum_i s_i (x_i - mean)(x_i - mean)'
    cross: np.ndarray  # the same of x and y
    squares: np.ndarray  # the same of y and y, the diagonal


def row_blocks(shape: tuple[int, int], first: int = 0) -> Iterator[slice]:
    """Divide the rows from ``first`` into blocks that fit into the cache."""
    size = max(64, BLOCK_BYTES // (8 * max(1, shape[1])))
    return (slice(start, min(start + size, shape[0])) for start in range(first, shape[0], size))


def collect(X, Y: np.ndarray, weights: np.ndarray | None, centered: bool) -> Moments:
    """Collect the moments of all rows; ``Y`` has one column per target."""
    n, d = X.shape
    total = float(n) if weights is None else float(weights.sum())
    if sparse.issparse(X):
        return _collect_sparse(X, Y, weights, centered, total)
    if weights is None and X.dtype == np.float64 and X.flags.c_contiguous and _near_origin(X):
        return _collect_in_place(X, Y, centered, total)
    columns = d + Y.shape[1]
    # Subtracting the mean of some rows first keeps the digits of data far from the origin.
    shift = np.zeros(columns)
    if centered:
        some = next(row_blocks((n, columns)))
        shift = np.concatenate([X[some].mean(axis=0, dtype=np.float64), Y[some].mean(axis=0)])

    def part(start: int, stop: int) -> np.ndarray:
        found = np.zeros((columns + 1, columns))  # products, and sums in the last row
        buffer = np.empty((min(stop - start, max(64, BLOCK_BYTES // (8 * columns))), columns))
        for rows in row_blocks((stop, columns), start):
            Z = buffer[: rows.stop - rows.start]
            np.subtract(X[rows], shift[:d], out=Z[:, :d])
            np.subtract(Y[rows], shift[d:], out=Z[:, d:])
            if weights is not None:
                found[-1] += weights[rows] @ Z
                Z *= np.sqrt(weights[rows])[:, None]
            elif centered:
                found[-1] += Z.sum(axis=0)
            found[:-1] += Z.T @ Z
        return found

    *products, sums = tree_sum(map_parts(part, (n, columns), 8 * columns))
    products = np.array(products)
    if centered:
        products -= np.outer(sums, sums) / total
        shift += sums / total
    return Moments(total, shift[:d], shift[d:], products[:d, :d], products[:d, d:], np.diag(products)[d:].copy())


def _near_origin(X: np.ndarray) -> bool:
    """Return whether centering afterward loses few digits, estimated from a sample of the rows: the variance exceeds the squared mean."""
    some = X[:: -(-len(X) // SAMPLED)]
    squares = np.einsum("ij,ij->j", some, some)
    return bool((2.0 * (np.ones(len(some)) @ some) ** 2 <= len(some) * squares).all())


def _collect_in_place(X: np.ndarray, Y: np.ndarray, centered: bool, total: float) -> Moments:
    """Collect the moments about zero, without copying rows, and center them at the end."""
    (n, d), y_shift = X.shape, Y.mean(axis=0) if centered else np.zeros(Y.shape[1])

    def part(start: int, stop: int) -> np.ndarray:
        found = np.zeros(
            (d + 1, d + Y.shape[1])
        )  # products with the columns and targets; sums and squared targets in the last row
        for rows in row_blocks((stop, d), start):
            Z, Yc = X[rows], Y[rows] - y_shift
            found[:d, :d] += Z.T @ Z
            found[:d, d:] += Z.T @ Yc
            found[d, d:] += (Yc * Yc).sum(axis=0)
            if centered:
                found[d, :d] += np.ones(len(Z)) @ Z
        return found

    found = tree_sum(map_parts(part, (n, d), 8 * d))
    gram, sums = found[:d, :d], found[d, :d]
    mean = sums / total
    gram -= np.outer(sums, mean)
    return Moments(total, mean, y_shift, gram, found[:d, d:], found[d, d:])


def _collect_sparse(X, Y, weights, centered: bool, total: float) -> Moments:
    X = X.astype(np.float64) if X.dtype != np.float64 else X
    s = np.ones(X.shape[0]) if weights is None else weights
    weighted = sparse.diags_array(s) @ X
    x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if centered:
        x_mean, y_mean = np.asarray(X.T @ s).ravel() / total, s @ Y / total
    Yc = Y - y_mean
    gram = (X.T @ weighted).toarray() - total * np.outer(x_mean, x_mean)
    return Moments(total, x_mean, y_mean, gram, np.asarray(weighted.T @ Yc), s @ (Yc * Yc))


def gradients(X, Y, weights, w: np.ndarray, x_mean: np.ndarray, y_mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``sum_i s_i (x_i - mean) r_i`` and the weighted squares of ``r = (y - mean) - (x - mean) w``, by target."""
    if sparse.issparse(X):
        r = Y - y_mean - centered_times(X, x_mean, w)
        sr = r if weights is None else weights[:, None] * r
        return np.asarray(X.T @ sr) - np.outer(x_mean, sr.sum(axis=0)), (r * sr).sum(axis=0)
    plain = X.dtype == np.float64 and X.flags.c_contiguous and _near_origin(X)
    level = y_mean - (x_mean @ w if plain else 0.0)

    def part(start: int, stop: int) -> np.ndarray:
        found, buffer = (
            np.zeros((X.shape[1] + 2, Y.shape[1])),
            None,
        )  # the gradient, sums of residuals, and their squares
        for rows in row_blocks((stop, X.shape[1]), start):
            if not plain and (buffer is None or len(buffer) != rows.stop - rows.start):
                buffer = np.empty((rows.stop - rows.start, X.shape[1]))  # allocating every block anew would take longer
            Z = X[rows] if plain else np.subtract(X[rows], x_mean, out=buffer)
            r = Y[rows] - level - Z @ w
            sr = r if weights is None else weights[rows][:, None] * r
            found[:-2] += Z.T @ sr
            found[-2] += sr.sum(axis=0)
            found[-1] += (r * sr).sum(axis=0)
        return found

    *gradient, sums, squares = tree_sum(map_parts(part, X.shape, 1024))
    return np.array(gradient) - (np.outer(x_mean, sums) if plain else 0.0), squares


def gram_of_rows(X, weights: np.ndarray | None, x_mean: np.ndarray) -> np.ndarray:
    """Return ``Z Z'`` for ``Z = sqrt(s) (X - mean)``: the smaller Gram matrix if there are fewer rows than features."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        K = _about(x_mean, (X @ X.T).toarray(), X)
    elif weights is None and X.dtype == np.float64 and _near_origin(X):
        K = _about(x_mean, X @ X.T, X)
    else:
        K = np.zeros((X.shape[0], X.shape[0]))
        size = max(
            X.shape[0], BLOCK_BYTES // (8 * X.shape[0])
        )  # number of columns of a block, which is at most as large as K
        for start in range(0, X.shape[1], size):
            Z = X[:, start : start + size] - x_mean[start : start + size]
            K += Z @ Z.T
    if weights is not None:
        root = np.sqrt(weights)
        K *= root[:, None] * root[None, :]
    return K


def _about(mean: np.ndarray, K: np.ndarray, X) -> np.ndarray:
    """Return the inner products of the rows about ``mean``; ``K``, those about zero, is modified."""
    along = np.asarray(X @ mean).ravel()
    K -= along[:, None]
    K -= along - mean @ mean
    return K


def transposed(X, weights: np.ndarray | None, x_mean: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return ``Z' c`` for the same ``Z``."""
    c = c if weights is None else np.sqrt(weights)[:, None] * c
    if sparse.issparse(X):
        return np.asarray(X.T @ c) - np.outer(x_mean, c.sum(axis=0))
    return sum(((X[rows] - x_mean).T @ c[rows] for rows in row_blocks(X.shape)), np.zeros((X.shape[1], c.shape[1])))


def centered_times(X, x_mean: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return ``(X - mean) w``, one column per target."""
    if sparse.issparse(X):
        return np.asarray(X @ w) - x_mean @ w
    return np.concatenate([(X[rows] - x_mean) @ w for rows in row_blocks(X.shape)])


def smallest_kept(shape: tuple[int, int], singular: np.ndarray, x_mean: np.ndarray, total: float) -> float:
    """Return the threshold below which singular values of centered data are rounding errors."""
    largest = max(float(np.max(singular, initial=0.0)) * max(shape), 8 * float(np.linalg.norm(x_mean)) * total**0.5)
    return largest * float(np.finfo(float).eps)


def means(X, Y, weights: np.ndarray | None, centered: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the sum of the weights and the means that centering subtracts."""
    s = np.ones(X.shape[0]) if weights is None else weights
    total = float(s.sum())
    if not centered:
        return total, np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if sparse.issparse(X):
        return total, np.asarray(X.T @ s).ravel() / total, s @ Y / total
    rough = X[0].astype(np.float64)
    found = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape):
        Z = X[rows] - rough
        found += Z.sum(axis=0) if weights is None else weights[rows] @ Z
    return total, rough + found / total, s @ Y / total


def any_dense(X: Any) -> np.ndarray:
    """Return a dense float64 array."""
    return X.toarray().astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
