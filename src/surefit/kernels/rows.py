"""A sample prepared once, from which a solver takes blocks of rows of the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np


class GramRows:
    """Rows of a Gram matrix on demand.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    A : sample as the kernel's ``read`` returns it
        The elements.
    dtype : dtype, default=float64
        Type of the blocks; the diagonal is float64 in any case.

    Attributes
    ----------
    n : int
        Number of elements.
    diagonal : ndarray of shape (n,)
        ``k(x_i, x_i)``.
    """

    def __init__(self, kernel, A: Any, dtype=np.float64):
        self.kernel, self.dtype = kernel, np.dtype(dtype)
        self.sample = A
        self.A = A.astype(self.dtype, copy=False) if A.dtype.kind == "f" else A
        self.n = A.shape[0]
        self.diagonal = np.asarray(kernel._diagonal(A), dtype=np.float64)

    def block(self, indices) -> np.ndarray:
        """Return rows ``indices`` of ``k(X)``, an array of shape (len(indices), n) that is the caller's to change."""
        indices = np.asarray(indices, dtype=np.intp)
        values = self._values(indices)
        values[np.arange(len(indices)), indices] = self.diagonal[indices]
        return values

    def cross(self, Z) -> np.ndarray:
        """Return the values of new elements with these, an array of shape (n_new, n)."""
        return self.kernel(Z, self.sample, dtype=self.dtype)

    def take(self, indices) -> GramRows:
        """Return the same for some of the elements."""
        return type(self)(self.kernel, self.sample[np.asarray(indices, dtype=np.intp)], self.dtype)

    def _values(self, indices: np.ndarray) -> np.ndarray:
        return self.kernel._checked(self.kernel._gram(self.A[indices], self.A), indices, self.A, self.dtype)
