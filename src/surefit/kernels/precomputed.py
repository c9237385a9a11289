"""Precomputed kernel values."""

from __future__ import annotations

import numpy as np

from surefit.kernels.base import Kernel
from surefit.kernels.rows import require_square
from surefit.kernels.vectors import dense, read_vectors


class Precomputed(Kernel):
    r"""Precomputed kernel: the sample is the matrix of kernel values, :math:`K_{ij} = k(x_i, x_j)`.

    Guarantee: none; :func:`surefit.check_kernel` decides whether a matrix is positive semidefinite.

    For training, the matrix is square. New elements are given by their values with all training elements, one row per element.

    Examples
    --------
    >>> from surefit.kernels import Precomputed
    >>> Precomputed().diag([[2.0, 1.0], [1.0, 3.0]])
    array([2., 3.])
    """

    positive_semidefinite = None
    takes = "values"

    def read(self, X):
        """Validate a matrix of kernel values."""
        return read_vectors("Precomputed", X)

    def __call__(self, X, Y=None, *, dtype=np.float64) -> np.ndarray:
        """Return the values; without ``Y`` they must form a square matrix."""
        A = self.read(X)
        if Y is None:
            require_square(A)
        return np.array(dense(A), dtype=dtype, order="C")

    def _gram(self, A, B):
        return np.array(dense(A))

    def _diagonal(self, A):
        require_square(A)
        return np.array(A.diagonal(), dtype=np.float64)
