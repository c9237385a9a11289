"""The linear kernel, without and with an intercept."""

from __future__ import annotations

import numpy as np

from surefit.core.validation import BOUNDS, POSITIVE
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


class DotProduct(Kernel):
    r"""Linear kernel with an intercept, :math:`k(x, x') = \sigma_0^2 + \langle x, x' \rangle`, as in scikit-learn.

    Guarantee: positive semidefinite; the features are the columns and the constant :math:`\sigma_0` (theory: :ref:`mercer`).

    Parameters
    ----------
    sigma_0 : float > 0, default=1.0
        Standard deviation :math:`\sigma_0` of the intercept.
    sigma_0_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import DotProduct
    >>> DotProduct(sigma_0=2.0)([[1.0, 2.0], [3.0, 4.0]])
    array([[ 9., 15.],
           [15., 29.]])
    """

    _rules = {"sigma_0": POSITIVE, "sigma_0_bounds": BOUNDS}

    def __init__(self, sigma_0=1.0, sigma_0_bounds=(1e-5, 1e5)):
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds

    def _gram(self, A, B):
        return products(A, B) + float(self.sigma_0) ** 2

    def _diagonal(self, A):
        return square_norms(A) + float(self.sigma_0) ** 2

    @property
    def hyperparameters(self):
        """The standard deviation of the intercept."""
        return self._own("sigma_0")

    def _derivatives(self, A, K):
        return [lambda: np.full_like(K, 2 * float(self.sigma_0) ** 2)]

    def feature_map(self, X) -> np.ndarray:
        """Return the columns and the constant."""
        columns = dense(self.read(X))
        return np.column_stack([columns, np.full(len(columns), float(self.sigma_0))])
