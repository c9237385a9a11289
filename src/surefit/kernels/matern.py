"""The Matern kernels of half-integer smoothness."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import cdist

from surefit.core.validation import BOUNDS, one_of
from surefit.kernels.base import Kernel
from surefit.kernels.strings.lengths import LENGTHS, by_length, in_units
from surefit.kernels.vectors import dense


class Matern(Kernel):
    r"""Matern kernel of smoothness :math:`\nu`, :math:`r = \|x - x'\| / \ell`.

    .. math::

        \nu = \tfrac12: e^{-r}, \qquad \nu = \tfrac32: (1 + \sqrt3 r) e^{-\sqrt3 r}, \qquad
        \nu = \tfrac52: (1 + \sqrt5 r + \tfrac53 r^2) e^{-\sqrt5 r}

    Guarantee: strictly positive definite on distinct points. Draws of the Gaussian process have as many derivatives as
    :math:`\nu` rounded down.

    Parameters
    ----------
    length_scale : float > 0 or array of one per column, default=1.0
        The length :math:`\ell`.
    length_scale_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.
    nu : {0.5, 1.5, 2.5}, default=1.5
        The smoothness. For large values the kernel approaches :class:`RBF`.

    Examples
    --------
    >>> from surefit.kernels import Matern
    >>> Matern(nu=0.5)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    stationary = True
    _rules = {"length_scale": LENGTHS, "length_scale_bounds": BOUNDS, "nu": one_of(0.5, 1.5, 2.5)}

    def __init__(self, length_scale=1.0, length_scale_bounds=(1e-5, 1e5), nu=1.5):
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu

    def _scaled(self, A):
        return in_units("Matern", dense(A), self.length_scale)

    def _gram(self, A, B):
        r = cdist(self._scaled(A), self._scaled(B))
        if self.nu == 0.5:
            return np.exp(-r)
        r *= math.sqrt(2 * self.nu)
        return (1 + r if self.nu == 1.5 else 1 + r + r * r / 3) * np.exp(-r)

    def _diagonal(self, A):
        return np.ones(A.shape[0])

    @property
    def hyperparameters(self):
        """The length scales."""
        return self._own("length_scale")

    def _derivatives(self, A, K):
        Z = self._scaled(A)
        r = cdist(Z, Z)
        # dk / d log l_j = w(r) (z_j - z'_j)^2 with w = -k'(r) / r; the sum over j is -r k'(r)
        if self.nu == 0.5:
            w = np.divide(np.exp(-r), r, out=np.zeros_like(r), where=r > 0)
        elif self.nu == 1.5:
            w = 3 * np.exp(-math.sqrt(3) * r)
        else:
            w = 5 / 3 * (1 + math.sqrt(5) * r) * np.exp(-math.sqrt(5) * r)
        if np.ndim(self.length_scale) == 0:
            return [lambda: w * r * r]
        return by_length(w, Z, self.length_scale)
