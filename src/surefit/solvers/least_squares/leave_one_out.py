r"""Exact leave-one-out errors of ridge regression for a path of penalties, from one eigendecomposition.

With :math:`Z = \sqrt{S}(X - \bar x) = P V^\top`, :math:`P = Z V` and :math:`Z^\top Z = V \Lambda V^\top`, the leverage of a row is
:math:`h_i = s_i / S + \sum_j P_{ij}^2 / (\lambda_j + \alpha)`, and leaving it out changes its residual to
:math:`r_i / (1 - h_i)`. If all weights are integers, they count repetitions and a single copy is left out; otherwise
the row is left out with its whole weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.partitioned import Part, PartitionedRows
from surefit.solvers.least_squares import moments as rows_of
from surefit.solvers.least_squares.moments import Moments, collect
from surefit.solvers.least_squares.partitioned import compress

EPS = float(np.finfo(np.float64).eps)


class Basis(NamedTuple):
    """Eigenvectors of the moments: Q of ``Z Z'`` if there are fewer rows than features, else V of ``Z' Z``."""

    total: float
    x_mean: np.ndarray
    y_mean: np.ndarray
    values: np.ndarray
    along: np.ndarray  # V' Z' y
    Q: np.ndarray | None
    V: np.ndarray | None
    moments: Moments | None


class Path(NamedTuple):
    """Leave-one-out and GCV errors along a path of penalties."""

    squared: np.ndarray  # (alphas, targets): weighted mean of squared leave-one-out errors
    gcv: np.ndarray  # (alphas, targets): generalized cross-validation
    degrees_of_freedom: np.ndarray  # (alphas,): effective degrees of freedom, including the intercept
    predictions: np.ndarray | None  # (rows, targets, alphas): leave-one-out predictions, if requested
    basis: Basis


def eigenbasis(X, Y, weights, centered: bool) -> Basis:
    """Decompose the smaller of the two Gram matrices, in the library of the products: threads of two libraries compete."""
    n, d = X.shape
    if n < d:
        total, x_mean, y_mean = rows_of.means(X, Y, weights, centered)
        values, Q = np.linalg.eigh(rows_of.gram_of_rows(X, weights, x_mean))
        values = np.where(
            values > n * EPS * values[-1], values, 0.0
        )  # centered rows have a null direction, up to rounding
        root = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
        along = np.sqrt(values)[:, None] * (Q.T @ (root * (Y - y_mean)))
        return Basis(total, x_mean, y_mean, values, along, Q, None, None)
    m = collect(X, Y, weights, centered)
    values, V = np.linalg.eigh(m.gram)
    return Basis(m.total, m.x_mean, m.y_mean, np.maximum(values, 0.0), V.T @ m.cross, None, V, m)


def spectrum_of(X, Y, weights, centered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of ``Z' Z`` and the target along its eigenvectors."""
    basis = eigenbasis(X, Y, weights, centered)
    return basis.values, basis.along


def factor(basis: Basis, alpha: float):
    """Return the function that applies the inverse of the decomposed matrix plus ``alpha``."""
    vectors = basis.V if basis.Q is None else basis.Q
    assert vectors is not None
    shrink = 1 / (basis.values[:, None] + alpha)
    return lambda v: vectors @ (shrink * (vectors.T @ v))


def leave_one_out(X, Y, weights, alphas: np.ndarray, *, centered: bool, keep: bool = False) -> Path:
    """Return the leave-one-out and GCV errors for each of ``alphas`` (all > 0)."""
    if isinstance(X, PartitionedRows):
        return _partitioned(X, alphas, centered)
    basis = eigenbasis(X, Y, weights, centered)
    kept = np.empty((X.shape[0], Y.shape[1], len(alphas))) if keep else None
    X = X.tocsr() if sparse.issparse(X) else X
    plain, squared = _sums(X, Y, weights, basis, alphas, centered, _whole(weights), kept)
    return _path(basis, alphas, centered, plain, squared, kept)


def _whole(weights: np.ndarray | None) -> bool:
    """Return whether all weights are integers: only then is a single copy of a row left out, not the whole row."""
    return weights is not None and bool(np.all(weights == np.floor(weights)))


def _path(basis: Basis, alphas: np.ndarray, centered: bool, plain, squared, kept) -> Path:
    degrees_of_freedom = (basis.values[:, None] / (basis.values[:, None] + alphas)).sum(axis=0) + float(centered)
    total = basis.total
    with np.errstate(divide="ignore", invalid="ignore"):
        gcv = np.where(degrees_of_freedom < total, plain / total / (1 - degrees_of_freedom / total) ** 2, np.inf)
    return Path(squared.T / total, gcv.T, degrees_of_freedom, kept, basis)


def _partitioned(rows: PartitionedRows, alphas: np.ndarray, centered: bool) -> Path:
    """Return the same errors for rows in partitions, by two passes: one for the triangular factor, one for the errors."""
    few = compress(rows, centered)
    basis = eigenbasis(few.X, few.Y, None, False)._replace(
        total=few.total, x_mean=few.x_mean, y_mean=few.y_mean, moments=None
    )
    whole = bool(rows.map_reduce(_part_whole, combine=min)) if rows.weighted else False
    plain, squared = rows.map_reduce(_part_sums, basis, alphas, centered, whole)
    return _path(basis, alphas, centered, plain, squared, None)


def _part_whole(part: Part) -> bool:
    return _whole(part.weights)


def _part_sums(
    part: Part, basis: Basis, alphas: np.ndarray, centered: bool, whole: bool
) -> tuple[np.ndarray, np.ndarray]:
    Y = np.asarray(part.y, dtype=np.float64).reshape(len(part.X), -1)
    return _sums(part.X, Y, part.weights, basis, alphas, centered, whole, None)


def _sums(
    X, Y, weights, basis: Basis, alphas: np.ndarray, centered: bool, whole: bool, kept
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted sums of squared residuals and leave-one-out errors, by target and penalty; store predictions in ``kept``."""
    n, k, count = X.shape[0], Y.shape[1], len(alphas)
    total, x_mean, y_mean, values, along, Q, V, _ = basis
    shrink = 1 / (values[:, None] + alphas)  # (directions, alphas)
    pulled = (along[:, :, None] * shrink[:, None, :]).reshape(len(values), k * count)
    squared, plain = np.zeros((k, count)), np.zeros((k, count))
    for rows in rows_of.row_blocks((n, len(values))):
        root = None if weights is None else np.sqrt(weights[rows])[:, None]
        if Q is not None:
            part = Q[rows] * np.sqrt(values)
        elif sparse.issparse(X):
            part = np.asarray(X[rows] @ V) - x_mean @ V
        else:
            part = (X[rows] - x_mean) @ V
        if Q is None and root is not None:
            part *= root
        fitted = part @ pulled
        leverage = (part * part) @ shrink
        once: float | np.ndarray = 1.0
        s = np.ones((1, 1))
        if root is not None:
            safe = np.where(root > 0, root, 1.0)
            fitted, s = fitted / safe, root**2
            leverage, once = leverage / safe**2, np.minimum(s, 1.0) if whole else s
        if centered:
            leverage = leverage + 1 / total
        errors = (Y[rows] - y_mean)[:, :, None] - fitted.reshape(-1, k, count)
        plain += (s[:, :, None] * errors**2).sum(axis=0)
        left = 1 - once * leverage
        errors /= np.where(left > 0, left, np.inf)[:, None, :]  # a row that alone determines a direction is ignored
        squared += (s[:, :, None] * errors**2).sum(axis=0)
        if kept is not None:
            kept[rows] = Y[rows][:, :, None] - errors
    return plain, squared
