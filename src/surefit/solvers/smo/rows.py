"""Kernel rows as the working-set solver wants them: as fast as BLAS gives them, symmetric to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.kernels import RBF, Kernel


def solver_rows(kernel: Kernel, X) -> tuple[Any, Any]:
    """Return rows of the Gram matrix in float64 and in float32; the Gaussian kernel of dense rows has its own."""
    if type(kernel) is RBF and not sparse.issparse(X):
        A = kernel.read(X)
        n, d = A.shape
        extended = np.empty((n, d + 2))
        np.subtract(A, np.mean(A, axis=0), out=extended[:, :d])
        extended[:, :d] /= kernel.lengths
        extended[:, d] = 1.0
        extended[:, d + 1] = -0.5 * np.einsum("ij,ij->i", extended[:, :d], extended[:, :d])
        return GaussianRows(extended), GaussianRows(extended.astype(np.float32))
    return kernel.rows(X), kernel.rows(X, dtype=np.float32)


class GaussianRows:
    r"""Gaussian rows by one product: :math:`\langle (x, -|x|^2/2, 1), (x', 1, -|x'|^2/2) \rangle = -|x - x'|^2 / 2`.

    Two more columns cost less than a pass over the result. Entries may be above one by rounding, which no solver minds.

    Parameters
    ----------
    extended : ndarray of shape (n, d + 2)
        Rows in units of the length scale from their mean, then a one and minus half the squared norm.
    """

    def __init__(self, extended: np.ndarray):
        self.extended = extended
        self.n, self.diagonal = len(extended), np.ones(len(extended))

    def block(self, indices) -> np.ndarray:
        """Return the rows ``indices``."""
        left = self.extended[indices]
        left[:, -2], left[:, -1] = left[:, -1].copy(), 1.0
        values = left @ self.extended.T
        values[np.arange(len(left)), indices] = 0.0
        return np.exp(values, out=values)

    def take(self, indices) -> GaussianRows:
        """Return the same for some of the elements."""
        return GaussianRows(self.extended[indices])
