"""Prepared samples, from which solvers take blocks of rows of the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.kernels.vectors import dense


class GramRows:
    """Rows of a Gram matrix, computed on demand.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    A : sample as the kernel's ``read`` returns it
        The elements.
    dtype : dtype, default=float64
        Type of the blocks; the diagonal is always float64.

    Attributes
    ----------
    n : int
        Number of elements.
    diagonal : ndarray of shape (n,)
        ``k(x_i, x_i)``.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.kernels import RBF, GramRows
    >>> rows = GramRows(RBF(gamma=1.0), np.array([[0.0], [1.0], [2.0]]))
    >>> rows.block([0]).round(4), rows.diagonal
    (array([[1.    , 0.3679, 0.0183]]), array([1., 1., 1.]))
    """

    def __init__(self, kernel, A: Any, dtype=np.float64):
        self.kernel, self.dtype = kernel, np.dtype(dtype)
        self.sample = A
        self.A = A.astype(self.dtype, copy=False) if A.dtype.kind == "f" else A
        self.n = A.shape[0]
        self.diagonal = np.asarray(kernel._diagonal(A), dtype=np.float64)

    def block(self, indices) -> np.ndarray:
        """Return rows ``indices`` of ``k(X)`` as a new array of shape (len(indices), n) that the caller may modify."""
        indices = np.asarray(indices, dtype=np.intp)
        values = self._values(indices)
        values[np.arange(len(indices)), indices] = self.diagonal[indices]
        return values

    def cross(self, Z) -> np.ndarray:
        """Return the values of new elements with the elements of this sample, an array of shape (n_new, n)."""
        return self.kernel(Z, self.sample, dtype=self.dtype)

    def take(self, indices) -> GramRows:
        """Return the prepared sample of some of the elements."""
        return type(self)(self.kernel, self.sample[np.asarray(indices, dtype=np.intp)], self.dtype)

    def _values(self, indices: np.ndarray) -> np.ndarray:
        return self.kernel._checked(self.kernel._gram(self.A[indices], self.A), indices, self.A, self.dtype)


class GivenRows(GramRows):
    """Rows of a precomputed matrix, or of a kernel made from one; ``columns`` lists the remaining training elements."""

    def __init__(self, kernel, A, dtype=np.float64, columns: np.ndarray | None = None):
        require_square(A)
        super().__init__(kernel, A, dtype)
        self.columns = columns

    def cross(self, Z) -> np.ndarray:
        """Return the values of new elements, given with all training elements, with the remaining training elements."""
        A = self.kernel.read(Z)
        values = given_values(self.kernel, A if self.columns is None else A[:, self.columns])
        return np.ascontiguousarray(values, dtype=self.dtype)

    def take(self, indices) -> GivenRows:
        """Return the prepared sample of some of the elements."""
        indices = np.asarray(indices, dtype=np.intp)
        columns = indices if self.columns is None else self.columns[indices]
        return GivenRows(self.kernel, self.sample[indices][:, indices], self.dtype, columns)

    def _values(self, indices):
        return np.ascontiguousarray(given_values(self.kernel, self.A[indices]), dtype=self.dtype)


class CombinedRows(GramRows):
    """Rows of a kernel whose values are a function of the values of other kernels, each prepared separately."""

    def __init__(self, kernel, A, dtype=np.float64):
        super().__init__(kernel, A, dtype)
        self.parts = [part._prepared(A, dtype) for part in kernel._parts()]

    def _values(self, indices):
        values = self.kernel._combined(*(part._values(indices) for part in self.parts))
        return np.ascontiguousarray(values, dtype=self.dtype)


def given_values(kernel, A) -> np.ndarray:
    """Return the values of a precomputed kernel; its second sample has as many elements as the matrix has columns."""
    return kernel._gram(np.array(dense(A)), np.empty((A.shape[1], 0)))


def require_square(A) -> None:
    """Raise ``InvalidData`` if a matrix of training values is not square."""
    if A.shape[0] != A.shape[1]:
        raise InvalidData(f"Precomputed: a precomputed kernel must be a square matrix; got shape {A.shape}.")
