"""The periodic kernel."""

from __future__ import annotations

import numpy as np

from surefit.core.validation import BOUNDS, POSITIVE
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import dense


class Periodic(Kernel):
    r"""Periodic kernel :math:`k(x, x') = \exp\left(-\frac{2}{\ell^2} \sum_j \sin^2\frac{\pi (x_j - x'_j)}{p}\right)`.

    Guarantee: positive semidefinite for any number of columns, because it is the Gaussian kernel of the points :math:`(\cos 2\pi x_j / p,
    \sin 2\pi x_j / p)` on circles. For one column it equals scikit-learn's ``ExpSineSquared``. For several columns, ``ExpSineSquared``
    uses the sine of the Euclidean distance, which is not a kernel in general.

    Parameters
    ----------
    length_scale : float > 0, default=1.0
        The length :math:`\ell`, in units of the circle's radius.
    periodicity : float > 0, default=1.0
        The period :math:`p`.
    length_scale_bounds, periodicity_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search ranges for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import Periodic
    >>> Periodic(periodicity=2.0)([[0.0]], [[1.0], [2.0]]).round(4)
    array([[0.1353, 1.    ]])
    """

    stationary = True
    _rules = {
        "length_scale": POSITIVE,
        "periodicity": POSITIVE,
        "length_scale_bounds": BOUNDS,
        "periodicity_bounds": BOUNDS,
    }

    def __init__(
        self, length_scale=1.0, periodicity=1.0, length_scale_bounds=(1e-5, 1e5), periodicity_bounds=(1e-5, 1e5)
    ):
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds

    def _sum(self, A, B, term) -> np.ndarray:
        """Return the sum over the columns of a function of the angle, one column at a time, so that memory stays quadratic."""
        A, B = dense(A), dense(B)
        total = np.zeros((A.shape[0], B.shape[0]))
        for j in range(A.shape[1]):
            total += term(np.pi / self.periodicity * np.subtract.outer(A[:, j], B[:, j]))
        return total

    def _gram(self, A, B):
        return np.exp(-2 / self.length_scale**2 * self._sum(A, B, lambda angle: np.sin(angle) ** 2))

    def _diagonal(self, A):
        return np.ones(A.shape[0])

    @property
    def hyperparameters(self):
        """The length, then the period."""
        return self._own("length_scale", "periodicity")

    def _derivatives(self, A, K):
        factor = 2 / self.length_scale**2
        return [
            lambda: 2 * factor * K * self._sum(A, A, lambda angle: np.sin(angle) ** 2),
            lambda: factor * K * self._sum(A, A, lambda angle: angle * np.sin(2 * angle)),
        ]
