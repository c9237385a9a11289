"""Covariances of Brownian motion and of its integral: kernels of linear and cubic splines."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.validation import POSITIVE, REAL
from surefit.kernels.base import Kernel
from surefit.kernels.expansions.eigenpairs import Eigenpairs, check_count
from surefit.kernels.vectors import dense


class _OnALine(Kernel):
    """Kernel on numbers to the right of an origin."""

    _rules = {"origin": REAL}
    origin: float

    def read(self, X):
        """Validate a sample: one column, no number left of the origin."""
        who = type(self).__name__
        A = dense(super().read(X))
        if A.shape[1] != 1:
            raise InvalidData(f"{who}: a sample must have one column; got {A.shape[1]}.")
        if np.min(A) < self.origin:
            row = int(np.argmin(A))
            raise InvalidData(
                f"{who}: numbers must be >= origin = {self.origin!r}; row {row} has {float(A[row, 0])!r}. Pass a smaller origin."
            )
        return A

    def _times(self, A) -> np.ndarray:
        return A[:, 0] - self.origin


class Min(_OnALine):
    r"""Covariance of Brownian motion, :math:`k(x, x') = \min(x, x') - a` for :math:`x, x' \ge a`.

    Its RKHS consists of the functions with :math:`f(a) = 0`, with the squared norm :math:`\int f'^2`.

    Guarantee: positive semidefinite; positive definite on distinct points right of the origin, with
    :math:`\det K = \prod_i (x_i - x_{i-1})`, :math:`x_0 = a` (theory: :ref:`mercer`).

    Parameters
    ----------
    origin : float, default=0.0
        The point :math:`a`.

    Examples
    --------
    >>> from surefit.kernels import Min
    >>> Min()([[1.0], [3.0]])
    array([[1., 1.],
           [1., 3.]])
    >>> Min().eigenpairs(2).values.round(4)
    array([0.4053, 0.045 ])
    """

    def __init__(self, origin=0.0):
        self.origin = origin

    def _gram(self, A, B):
        return np.minimum.outer(self._times(A), self._times(B))

    def _diagonal(self, A):
        return self._times(A)

    def eigenpairs(self, count: int, length: float = 1.0) -> Eigenpairs:
        r"""Return :math:`\lambda_j = L^2 / ((j - \frac12)^2 \pi^2)`, :math:`\phi_j = \sqrt{2/L} \sin((j - \frac12) \pi (x - a) / L)`.

        The eigenpairs are those on the interval from ``origin`` to ``origin + length``. The partial sum of ``count``
        terms is within :math:`2 L / (\pi^2 m)` of the kernel everywhere.
        """
        if not POSITIVE.allows(length):
            raise InvalidData(f"Min: length must be {POSITIVE.words}; got {length!r}.")
        frequencies = (np.arange(check_count("Min", count)) + 0.5) * np.pi / length

        def functions(X):
            return np.sqrt(2 / length) * np.sin(np.outer(self._times(self.read(X)), frequencies))

        return Eigenpairs(1 / frequencies**2, functions)

    def inverse(self, X) -> sparse.csr_array:
        r"""Return the inverse of ``k(X)``, which is tridiagonal for increasing numbers.

        With :math:`h_i = x_i - x_{i-1}`: :math:`1/h_i + 1/h_{i+1}` on the diagonal (last: :math:`1/h_n`), :math:`-1/h_{i+1}` next to it.
        """
        steps = np.diff(self._times(self.read(X)), prepend=0.0)
        if np.any(steps <= 0):
            raise InvalidData("Min: the inverse needs strictly increasing numbers, all greater than the origin.")
        weights = 1 / steps
        diagonal = weights + np.append(weights[1:], 0.0)
        return sparse.csr_array(sparse.diags_array([-weights[1:], diagonal, -weights[1:]], offsets=[-1, 0, 1]))


class IntegratedBrownian(_OnALine):
    r"""Covariance of integrated Brownian motion, :math:`k(s, t) = \int_a (s - w)_+ (t - w)_+ \, dw`, the kernel of cubic splines.

    For :math:`a = 0` and :math:`s \le t` it is :math:`s^2 t / 2 - s^3 / 6`. The squared norm of its RKHS is :math:`\int
    f''^2`, for functions with :math:`f(a) = f'(a) = 0`.

    Guarantee: positive semidefinite; positive definite on distinct points right of the origin.

    Parameters
    ----------
    origin : float, default=0.0
        The point :math:`a`.

    Examples
    --------
    >>> from surefit.kernels import IntegratedBrownian
    >>> IntegratedBrownian()([[0.3]], [[0.7]]).round(6)
    array([[0.027]])
    """

    def __init__(self, origin=0.0):
        self.origin = origin

    def _gram(self, A, B):
        a, b = self._times(A), self._times(B)
        small = np.minimum.outer(a, b)
        return small * small * (3 * np.maximum.outer(a, b) - small) / 6

    def _diagonal(self, A):
        return self._times(A) ** 3 / 3
