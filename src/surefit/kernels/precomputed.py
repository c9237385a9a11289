"""Kernel values that were computed elsewhere."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.kernels.base import Kernel
from surefit.kernels.rows import GramRows
from surefit.kernels.vectors import dense, read_vectors


class Precomputed(Kernel):
    r"""The sample is the matrix of kernel values itself, :math:`K_{ij} = k(x_i, x_j)`.

    Guarantee: none; :func:`surefit.check_kernel` decides whether a matrix is positive semidefinite.

    For training the matrix is square. New elements are given by their values with all training elements, one row each.

    Examples
    --------
    >>> from surefit.kernels import Precomputed
    >>> Precomputed().diag([[2.0, 1.0], [1.0, 3.0]])
    array([2., 3.])
    """

    positive_semidefinite = None
    takes = "values"

    def read(self, X):
        """Check a matrix of kernel values."""
        return read_vectors("Precomputed", X)

    def __call__(self, X, Y=None, *, dtype=np.float64) -> np.ndarray:
        """Return the values; without ``Y`` they must form a square matrix."""
        A = self.read(X)
        if Y is None:
            _require_square(A)
        return np.array(dense(A), dtype=dtype, order="C")

    def _gram(self, A, B):
        return np.array(dense(A))

    def _diagonal(self, A):
        _require_square(A)
        return np.array(A.diagonal(), dtype=np.float64)

    def _prepared(self, A, dtype):
        _require_square(A)
        return PrecomputedRows(self, A, dtype)

    def against(self, Z, support, support_vectors) -> np.ndarray:
        """Return the columns ``support``."""
        return np.ascontiguousarray(dense(self.read(Z)[:, support]))


class PrecomputedRows(GramRows):
    """Rows of a given matrix; ``columns`` says which training elements are left."""

    def __init__(self, kernel, A, dtype=np.float64, columns: np.ndarray | None = None):
        super().__init__(kernel, A, dtype)
        self.columns = columns

    def cross(self, Z) -> np.ndarray:
        """Return the values of new elements, given with all training elements, with those that are left."""
        A = self.kernel.read(Z)
        return np.array(dense(A if self.columns is None else A[:, self.columns]), dtype=self.dtype, order="C")

    def take(self, indices) -> PrecomputedRows:
        """Return the same for some of the elements."""
        indices = np.asarray(indices, dtype=np.intp)
        columns = indices if self.columns is None else self.columns[indices]
        return PrecomputedRows(self.kernel, self.sample[indices][:, indices], self.dtype, columns)

    def _values(self, indices):
        return np.array(dense(self.A[indices]), dtype=self.dtype, order="C")


def _require_square(A) -> None:
    if A.shape[0] != A.shape[1]:
        raise InvalidData(f"Precomputed: a precomputed kernel must be a square matrix; got shape {A.shape}.")
