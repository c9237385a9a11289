r"""Exact leave-one-out errors of ridge regression for a whole path of penalties, from one eigendecomposition.

With :math:`Z = \sqrt{S}(X - \bar x) = P V^\top`, :math:`P = Z V` and :math:`Z^\top Z = V \Lambda V^\top`, the leverage of a row is
:math:`h_i = s_i / S + \sum_j P_{ij}^2 / (\lambda_j + \alpha)` and leaving it out turns its residual into :math:`r_i / (1 - h_i)`.
Rows that stand for several (weight above one) lose one of them: their leverage counts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.solvers.least_squares import moments as rows_of
from surefit.solvers.least_squares.moments import Moments, collect


class Basis(NamedTuple):
    """Eigenvectors of the moments: Q of ``Z Z'`` where rows are fewer than features, else V of ``Z' Z``."""

    total: float
    x_mean: np.ndarray
    y_mean: np.ndarray
    values: np.ndarray
    along: np.ndarray  # V' Z' y
    Q: np.ndarray | None
    V: np.ndarray | None
    moments: Moments | None


class Path(NamedTuple):
    """Errors along a path of penalties."""

    squared: np.ndarray  # (alphas, targets): weighted mean of squared leave-one-out errors
    gcv: np.ndarray  # (alphas, targets): generalised cross-validation
    freedom: np.ndarray  # (alphas,): effective degrees of freedom, the intercept included
    predictions: np.ndarray | None  # (rows, targets, alphas): leave-one-out predictions, if asked for
    basis: Basis


def eigenbasis(X, Y, weights, centred: bool) -> Basis:
    """Decompose the smaller of the two matrices of inner products."""
    n, d = X.shape
    if n < d:
        total, x_mean, y_mean = rows_of.means(X, Y, weights, centred)
        values, Q = linalg.eigh(
            rows_of.gram_of_rows(X, weights, x_mean), check_finite=False, overwrite_a=True, driver="evd"
        )
        values = np.maximum(values, 0.0)
        root = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
        along = np.sqrt(values)[:, None] * (Q.T @ (root * (Y - y_mean)))
        return Basis(total, x_mean, y_mean, values, along, Q, None, None)
    m = collect(X, Y, weights, centred)
    values, V = linalg.eigh(m.gram, check_finite=False, driver="evd")
    return Basis(m.total, m.x_mean, m.y_mean, np.maximum(values, 0.0), V.T @ m.cross, None, V, m)


def spectrum_of(X, Y, weights, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of ``Z' Z`` and the target along its eigenvectors."""
    basis = eigenbasis(X, Y, weights, centred)
    return basis.values, basis.along


def factor(basis: Basis, alpha: float):
    """Return the function that applies the inverse of the decomposed matrix plus ``alpha``."""
    vectors = basis.V if basis.Q is None else basis.Q
    assert vectors is not None
    shrink = 1 / (basis.values[:, None] + alpha)
    return lambda v: vectors @ (shrink * (vectors.T @ v))


def leave_one_out(X, Y, weights, alphas: np.ndarray, *, centred: bool, keep: bool = False) -> Path:
    """Return the errors at each of ``alphas`` (all > 0)."""
    n, k, count = X.shape[0], Y.shape[1], len(alphas)
    basis = eigenbasis(X, Y, weights, centred)
    total, x_mean, y_mean, values, along, Q, V, _ = basis
    shrink = 1 / (values[:, None] + alphas)  # (directions, alphas)
    pulled = (along[:, :, None] * shrink[:, None, :]).reshape(len(values), k * count)
    freedom = (values[:, None] * shrink).sum(axis=0) + (1.0 if centred else 0.0)
    squared, plain = np.zeros((k, count)), np.zeros((k, count))
    kept = np.empty((n, k, count)) if keep else None
    X = X.tocsr() if sparse.issparse(X) else X
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
            leverage, once = leverage / safe**2, np.minimum(s, 1.0)
        if centred:
            leverage = leverage + 1 / total
        errors = (Y[rows] - y_mean)[:, :, None] - fitted.reshape(-1, k, count)
        plain += (s[:, :, None] * errors**2).sum(axis=0)
        left = 1 - once * leverage
        errors /= np.where(left > 0, left, np.inf)[:, None, :]  # a row that alone holds up a direction says nothing
        squared += (s[:, :, None] * errors**2).sum(axis=0)
        if kept is not None:
            kept[rows] = Y[rows][:, :, None] - errors
    with np.errstate(divide="ignore", invalid="ignore"):
        gcv = np.where(freedom < total, plain / total / (1 - freedom / total) ** 2, np.inf)
    return Path(squared.T / total, gcv.T, freedom, kept, basis)
