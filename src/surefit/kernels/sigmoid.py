"""Sigmoid function, which is not a kernel in general."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import DataWarning
from surefit.core.validation import POSITIVE, REAL
from surefit.core.warn import warn
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import products, square_norms


class Sigmoid(Kernel):
    r"""Hyperbolic tangent :math:`k(x, x') = \tanh(\gamma \langle x, x' \rangle + c)`: not positive semidefinite in general.

    Guarantee: none. For example, the points 1 and 2 with :math:`\gamma = 1, c = 0` have a Gram matrix with determinant
    -0.168. Values are computed with a ``DataWarning``, but no claim that needs a positive semidefinite kernel is made.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`c`.

    Examples
    --------
    >>> import warnings
    >>> from surefit.kernels import Sigmoid
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     Sigmoid()([[1.0], [2.0]]).round(4)
    array([[0.7616, 0.964 ],
           [0.964 , 0.9993]])
    """

    positive_semidefinite = False
    _rules = {"gamma": POSITIVE, "coef0": REAL}

    def __init__(self, gamma=1.0, coef0=0.0):
        self.gamma = gamma
        self.coef0 = coef0

    def read(self, X):
        """Validate a sample and warn."""
        warn(
            "Sigmoid: tanh(gamma <x, x'> + coef0) is not positive semidefinite in general; check_kernel(kernel, X) shows "
            "whether it is on a sample. RBF and Polynomial are positive semidefinite on every sample.",
            DataWarning,
        )
        return super().read(X)

    def _gram(self, A, B):
        values = products(A, B)
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        return np.tanh(values, out=values)

    def _diagonal(self, A):
        return np.tanh(self.gamma * square_norms(A) + self.coef0)
