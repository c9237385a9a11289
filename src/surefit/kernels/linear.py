"""The linear kernel."""

from __future__ import annotations

import numpy as np

from surefit.kernels.base import Kernel
from surefit.kernels.vectors import dense, products, square_norms


class Linear(Kernel):
    r"""Linear kernel :math:`k(x, x') = \langle x, x' \rangle`.

    Guarantee: positive semidefinite; the features are the columns (theory: :ref:`mercer`).

    Examples
    --------
    >>> from surefit.kernels import Linear
    >>> Linear()([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    def _gram(self, A, B):
        return products(A, B)

    def _diagonal(self, A):
        return square_norms(A)

    def feature_map(self, X) -> np.ndarray:
        """Return the columns."""
        return dense(self.read(X))
