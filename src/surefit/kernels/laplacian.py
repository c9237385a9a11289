"""The Laplacian kernel."""

from __future__ import annotations

import numpy as np

from surefit.core.validation import BOUNDS, POSITIVE
from surefit.kernels.base import Kernel


class Laplacian(Kernel):
    r"""Laplacian kernel :math:`k(x, x') = \exp(-\gamma \|x - x'\|_1)`.

    Guarantee: strictly positive definite on distinct points, a product of :math:`\exp(-\gamma |x_j - x'_j|)` over the columns
    (theory: :ref:`mercer`). With the Euclidean distance instead it is :class:`Matern` with ``nu=0.5``.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        Factor of the distance.
    gamma_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    stationary = True
    _rules = {"gamma": POSITIVE, "gamma_bounds": BOUNDS}

    def __init__(self, gamma=1.0, gamma_bounds=(1e-5, 1e5)):
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    def _gram(self, A, B):
        values = _distances(A, B)
        values *= -self.gamma
        return np.exp(values, out=values)

    def _diagonal(self, A):
        return np.ones(A.shape[0])

    @property
    def hyperparameters(self):
        """The factor."""
        return self._own("gamma")

    def _derivatives(self, A, K):
        return [lambda: -self.gamma * _distances(A) * K]


def _distances(A, B=None):
    from sklearn.metrics.pairwise import manhattan_distances  # every estimator imports kernels, few need this

    return manhattan_distances(A, B)
