"""Kernel rows as the working-set solver wants them: as fast as BLAS gives them, symmetric to rounding."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.kernels import RBF, Kernel


def solver_rows(kernel: Kernel, X, dtype):
    """Return rows of the Gram matrix in ``dtype``; the Gaussian kernel of dense rows has its own."""
    if type(kernel) is RBF and not sparse.issparse(X):
        A = kernel.read(X)
        A = (A - np.mean(A, axis=0)) / kernel.lengths
        return GaussianRows(A.astype(dtype, copy=False), (np.einsum("ij,ij->i", A, A) / 2).astype(dtype))
    return kernel.rows(X, dtype=dtype)


class GaussianRows:
    r"""Gaussian rows by one product: :math:`\langle (x, -|x|^2/2, 1), (x', 1, -|x'|^2/2) \rangle = -|x - x'|^2 / 2`.

    Two more columns cost less than a pass over the result. Entries may be above one by rounding, which no solver minds.
    """

    def __init__(self, A: np.ndarray, halves: np.ndarray):
        self.A, self.halves, self.dtype = A, halves, A.dtype
        self.n, self.diagonal = len(A), np.ones(len(A))
        ones = np.ones((self.n, 1), dtype=self.dtype)
        norms = -halves[:, None].astype(self.dtype)
        self.left = np.hstack([A, norms, ones])
        self.right = np.ascontiguousarray(np.hstack([A, ones, norms]).T)

    def block(self, indices) -> np.ndarray:
        """Return the rows ``indices``."""
        values = self.left[indices] @ self.right
        values[np.arange(len(indices)), indices] = 0.0
        return np.exp(values, out=values)

    def take(self, indices) -> GaussianRows:
        """Return the same for some of the elements."""
        return GaussianRows(self.A[indices], self.halves[indices])
