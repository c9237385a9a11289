"""Kernel rows for the working-set solver, computed by BLAS, symmetric up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.threads import map_blocks, tree_sum
from surefit.kernels import RBF, Kernel, Linear
from surefit.kernels.rows import GramRows
from surefit.solvers.smo.cache import PIECE, share_of


def solver_rows(kernel: Kernel, X) -> tuple[Any, Any]:
    """Return rows of the Gram matrix in float64 and in float32; the Gaussian kernel of dense rows has its own implementation."""
    if type(kernel) is RBF and not sparse.issparse(X):
        A = kernel.read(X)
        n, d = A.shape
        extended = np.empty((n, d + 2))
        np.subtract(A, np.mean(A, axis=0), out=extended[:, :d])
        extended[:, :d] /= kernel.lengths
        extended[:, d] = 1.0
        extended[:, d + 1] = -0.5 * np.einsum("ij,ij->i", extended[:, :d], extended[:, :d])
        return GaussianRows(extended), GaussianRows(extended.astype(np.float32))
    if type(kernel) is Linear:
        A = kernel.read(X)
        return LinearRows(kernel, A), LinearRows(kernel, A, np.float32)
    return kernel.rows(X), kernel.rows(X, dtype=np.float32)


class LinearRows(GramRows):
    """Rows of inner products; a product with all rows uses the columns and forms no kernel matrix."""

    def times(self, beta: np.ndarray) -> np.ndarray:
        """Return ``K beta = X (X' beta)``."""
        return np.asarray(self.A @ (self.A.T @ beta)).ravel()


class GaussianRows:
    r"""Gaussian rows by one product: :math:`\langle (x, -|x|^2/2, 1), (x', 1, -|x'|^2/2) \rangle = -|x - x'|^2 / 2`.

    Two more columns cost less than a pass over the result. Entries may exceed one by rounding, which does not affect the solver.

    Parameters
    ----------
    extended : ndarray of shape (n, d + 2)
        Centered rows in units of the length scale, then a one and minus half the squared norm.
    """

    def __init__(self, extended: np.ndarray):
        self.extended = extended
        self.n, self.diagonal = len(extended), np.ones(len(extended))

    def block(self, indices) -> np.ndarray:
        """Return the rows ``indices``."""
        return _values(self.extended[indices], self.extended, indices)

    def times(self, beta: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return ``K beta``; values between two rows with non-zero weights are computed once."""
        support = np.flatnonzero(beta)
        order = np.concatenate([support, np.flatnonzero(beta == 0.0)])
        rows, weights, s = self.extended[order], beta[support], len(support)
        step = max(1, PIECE // (8 * self.n))

        def add(first, last):
            sums = np.zeros(self.n)
            for start in range(first, last, step):
                stop = min(start + step, last)
                values = _values(rows[start:stop].copy(), rows[start:], np.arange(stop - start))
                sums[start:] += weights[start:stop] @ values
                sums[start:stop] += values[:, stop - start : s - start] @ weights[stop:]
            return sums

        scores = np.zeros(self.n)
        scores[order] = tree_sum(map_blocks(add, s, share_of(s, step), n_jobs))
        return scores

    def take(self, indices) -> GaussianRows:
        """Return the prepared rows of some of the elements."""
        return GaussianRows(self.extended[indices])


def _values(left: np.ndarray, right: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return the values of rows ``left`` (overwritten) with rows ``right``; ``diagonal`` is the column of each row itself."""
    left[:, -2], left[:, -1] = left[:, -1].copy(), 1.0
    with np.errstate(invalid="ignore"):  # BLAS may read beyond short rows and raise flags
        values = left @ right.T
    values[np.arange(len(left)), diagonal] = 0.0
    return np.exp(values, out=values)
