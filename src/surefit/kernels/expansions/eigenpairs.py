"""Eigenvalues and eigenfunctions of a kernel, in closed form or from a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT


class Eigenpairs(NamedTuple):
    r"""Pairs with :math:`\int k(x, z) \phi_j(z) \, d\mu(z) = \lambda_j \phi_j(x)`, orthonormal in :math:`L_2(\mu)`, largest first.

    Examples
    --------
    >>> from surefit.kernels import Min
    >>> pairs = Min().eigenpairs(2)
    >>> pairs.values.round(6), pairs.features([[1.0]]).round(4)
    (array([0.405285, 0.045032]), array([[ 0.9003, -0.3001]]))
    """

    values: np.ndarray
    functions: Callable[..., np.ndarray]  # sample -> array of shape (n, count)

    def features(self, X) -> np.ndarray:
        r"""Return the Mercer features :math:`\sqrt{\lambda_j} \phi_j(x)`, one row per element."""
        return self.functions(X) * np.sqrt(self.values)

    def kernel(self, X, Y) -> np.ndarray:
        r"""Return the partial sum :math:`\sum_j \lambda_j \phi_j(x) \phi_j(y)`."""
        return self.features(X) @ self.features(Y).T


def check_count(who: str, count) -> int:
    """Return the number of pairs after validation."""
    if not COUNT.allows(count):
        raise InvalidParameter(who, "count", COUNT.words, count)
    return int(count)


def gaussian_eigenpairs(length: float, scale: float, count: int) -> Eigenpairs:
    r"""Return eigenpairs of :math:`\exp(-(x - x')^2 / (2 \ell^2))` under a centered normal distribution with standard deviation ``scale``.

    With :math:`a = 1/(4 \sigma^2), b = 1/(2 \ell^2), c = \sqrt{a^2 + 2ab}, A = a + b + c`: :math:`\lambda_j = \sqrt{2a/A}\, (b/A)^j`,
    and the functions are Hermite polynomials of :math:`\sqrt{2c}\, x` times :math:`e^{-(c - a) x^2}`.
    """
    a, b = 0.25 / scale**2, 0.5 / length**2
    c = np.sqrt(a * a + 2 * a * b)
    A = a + b + c
    values = np.sqrt(2 * a / A) * (b / A) ** np.arange(count)

    def functions(X):
        x = np.asarray(X, dtype=np.float64)[:, 0]
        y = np.sqrt(2 * c) * x
        columns = [np.zeros(len(x)), (c / a) ** 0.25 * np.exp(-(c - a) * x * x)]
        for j in range(count - 1):  # orthonormal Hermite functions by their recurrence
            columns.append(np.sqrt(2 / (j + 1)) * y * columns[-1] - np.sqrt(j / (j + 1)) * columns[-2])
        return np.column_stack(columns[1:])

    return Eigenpairs(values, functions)
