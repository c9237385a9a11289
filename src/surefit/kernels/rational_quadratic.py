"""The rational quadratic kernel."""

from __future__ import annotations

import numpy as np

from surefit.core.validation import BOUNDS, POSITIVE
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import square_distances


class RationalQuadratic(Kernel):
    r"""Rational quadratic kernel :math:`k(x, x') = \left(1 + \frac{\|x - x'\|^2}{2 \alpha \ell^2}\right)^{-\alpha}`.

    Guarantee: strictly positive definite on distinct points. It is a mixture of Gaussian kernels whose :math:`1/\ell^2` has a gamma
    distribution.

    Parameters
    ----------
    length_scale : float > 0, default=1.0
        The length :math:`\ell`.
    alpha : float > 0, default=1.0
        Shape of the mixture; for large values the kernel approaches :class:`RBF`.
    length_scale_bounds, alpha_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search ranges for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.7071]])
    """

    stationary = True
    _rules = {"length_scale": POSITIVE, "alpha": POSITIVE, "length_scale_bounds": BOUNDS, "alpha_bounds": BOUNDS}

    def __init__(self, length_scale=1.0, alpha=1.0, length_scale_bounds=(1e-5, 1e5), alpha_bounds=(1e-5, 1e5)):
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds

    def _quotient(self, A, B):
        values = square_distances(A, B)
        values /= 2 * self.alpha * self.length_scale**2
        return values

    def _gram(self, A, B):
        return np.exp(-self.alpha * np.log1p(self._quotient(A, B)))

    def _diagonal(self, A):
        return np.ones(A.shape[0])

    @property
    def hyperparameters(self):
        """Alpha, then the length scale."""
        return self._own("alpha", "length_scale")

    def _derivatives(self, A, K):
        q = self._quotient(A, A)
        np.fill_diagonal(q, 0.0)
        return [
            lambda: self.alpha * K * (q / (1 + q) - np.log1p(q)),
            lambda: 2 * self.alpha * K * q / (1 + q),
        ]
