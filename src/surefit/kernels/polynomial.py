"""The polynomial kernel and its exact finite feature map."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, POSITIVE, REAL
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import dense, products, square_norms

LARGEST_MAP = 10**6  # largest number of features


class Polynomial(Kernel):
    r"""Polynomial kernel :math:`k(x, x') = (\gamma \langle x, x' \rangle + c)^p`.

    Guarantee: positive semidefinite for :math:`c \ge 0`. The features are :math:`\sqrt{w_s}\, x^s`, one per monomial of degree at most
    :math:`p` (exactly :math:`p` for :math:`c = 0`), with :math:`w_s = \frac{p!}{s_1! \cdots s_d! (p - |s|)!} \gamma^{|s|} c^{p - |s|}`
    (theory: :ref:`mercer`).

    Parameters
    ----------
    degree : int >= 1, default=3
        The exponent :math:`p`.
    gamma : float > 0, default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        The constant :math:`c`. With a negative constant, the function is not a kernel in general.

    Examples
    --------
    >>> from surefit.kernels import Polynomial
    >>> Polynomial(degree=3)([[2.0]], [[3.0]])
    array([[343.]])
    >>> Polynomial(degree=3).feature_map([[2.0]]).round(3)
    array([[1.   , 3.464, 6.928, 8.   ]])
    """

    _rules = {"degree": COUNT, "gamma": POSITIVE, "coef0": REAL}

    def __init__(self, degree=3, gamma=1.0, coef0=1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the constant is non-negative."""
        return self.coef0 >= 0

    def _gram(self, A, B):
        values = products(A, B)
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        return integer_power(values, self.degree)

    def _diagonal(self, A):
        return integer_power(self.gamma * square_norms(A) + self.coef0, self.degree)

    def feature_map(self, X) -> np.ndarray:
        """Return the weighted monomials, by increasing degree."""
        A, p, c = dense(self.read(X)), self.degree, float(self.coef0)
        if c < 0:
            raise InvalidParameter("Polynomial", "coef0", ">= 0 for real features", self.coef0)
        degrees = range(p + 1) if c > 0 else (p,)
        size = sum(comb(A.shape[1] + k - 1, k) for k in degrees)
        if size > LARGEST_MAP:
            raise InvalidParameter(
                "Polynomial", "degree", f"such that there are at most {LARGEST_MAP} features", f"{p} ({size} features)"
            )
        columns = [self._monomial(A, powers) for k in degrees for powers in monomials(A.shape[1], k)]
        return np.column_stack(columns)

    def _monomial(self, A: np.ndarray, powers: dict[int, int]) -> np.ndarray:
        p, size = self.degree, sum(powers.values())
        ways = factorial(p) // (prod(map(factorial, powers.values())) * factorial(p - size))
        weight = ways * self.gamma**size * float(self.coef0) ** (p - size)
        column = np.full(len(A), np.sqrt(weight))
        for j, power in powers.items():
            column = column * A[:, j] ** power
        return column


def monomials(n_columns: int, degree: int):
    """Yield the monomials of a degree as {column: power}."""
    for chosen in combinations_with_replacement(range(n_columns), degree):
        yield {j: chosen.count(j) for j in sorted(set(chosen))}


def integer_power(values: np.ndarray, exponent: int) -> np.ndarray:
    """Return ``values ** exponent`` by repeated squaring, which is exact for integers without overflow."""
    exponent = int(exponent)
    if exponent == 1:
        return values
    half = integer_power(values, exponent // 2)
    half = half * half
    return half * values if exponent % 2 else half
