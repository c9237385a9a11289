"""The constant kernel and the white-noise kernel."""

from __future__ import annotations

import numpy as np

from surefit.core.validation import BOUNDS, POSITIVE
from surefit.kernels.base import Kernel


class _Anything(Kernel):
    """Kernel that does not depend on its elements."""

    takes = "anything"
    stationary = True

    def read(self, X):
        """Return the sample as an array with one row per element."""
        return X if hasattr(X, "shape") and len(X.shape) else np.asarray(X, dtype=object)


class Constant(_Anything):
    r"""Constant kernel :math:`k(x, x') = c`: one feature, :math:`\sqrt c`; added to another kernel it represents an intercept.

    Guarantee: positive semidefinite.

    Parameters
    ----------
    value : float > 0, default=1.0
        The constant :math:`c`.
    value_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import Constant, Linear
    >>> (Linear() + 1.0)([[2.0]], [[3.0]])
    array([[7.]])
    """

    _rules = {"value": POSITIVE, "value_bounds": BOUNDS}

    def __init__(self, value=1.0, value_bounds=(1e-5, 1e5)):
        self.value = value
        self.value_bounds = value_bounds

    @property
    def constant_value(self) -> float:
        """The constant, under scikit-learn's name."""
        return self.value

    @property
    def constant_value_bounds(self):
        """Search range of the constant, under scikit-learn's name."""
        return self.value_bounds

    def _gram(self, A, B):
        return np.full((A.shape[0], B.shape[0]), float(self.value))

    def _diagonal(self, A):
        return np.full(A.shape[0], float(self.value))

    @property
    def hyperparameters(self):
        """The constant."""
        return self._own("value")

    def _derivatives(self, A, K):
        return [lambda: K]

    def feature_map(self, X) -> np.ndarray:
        """Return one constant feature."""
        return np.full((self.read(X).shape[0], 1), np.sqrt(float(self.value)))


class Noise(_Anything):
    r"""White noise, :math:`k(x_i, x_j) = \sigma^2 [i = j]`, added to ``k(X)`` and never to ``k(X, Y)``.

    Guarantee: positive semidefinite. Two equal elements of a sample have independent noise.

    Parameters
    ----------
    variance : float > 0, default=1.0
        The variance :math:`\sigma^2`.
    variance_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import Noise
    >>> Noise(0.5)([[1.0], [1.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    _rules = {"variance": POSITIVE, "variance_bounds": BOUNDS}

    def __init__(self, variance=1.0, variance_bounds=(1e-5, 1e5)) -> None:
        self.variance = variance
        self.variance_bounds = variance_bounds

    @property
    def noise_level(self) -> float:
        """The variance, under scikit-learn's name."""
        return self.variance

    @property
    def noise_level_bounds(self):
        """Search range of the variance, under scikit-learn's name."""
        return self.variance_bounds

    def _gram(self, A, B):
        return np.zeros((A.shape[0], B.shape[0]))

    def _diagonal(self, A):
        return np.full(A.shape[0], float(self.variance))

    @property
    def hyperparameters(self):
        """The variance."""
        return self._own("variance")

    def _derivatives(self, A, K):
        return [lambda: np.diag(self._diagonal(A))]
