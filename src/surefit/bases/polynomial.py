from itertools import combinations_with_replacement
from math import factorial, prod, sqrt

import numpy as np
from sklearn.base import BaseEstimator

from surefit.bases.base import BasisMixin
from surefit.core.validation import BOOLEAN, COUNT


def exponents(columns: int, degree: int) -> np.ndarray:
    """Return the exponents of all monomials of degree 0 to ``degree``, one row per monomial, by increasing degree."""
    chosen = (c for k in range(degree + 1) for c in combinations_with_replacement(range(columns), k))
    return np.array([[c.count(j) for j in range(columns)] for c in chosen], dtype=np.int64).reshape(-1, columns)


def monomials(X: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Return the values of the monomials, one column per row of ``powers``."""
    result = np.ones((len(X), len(powers)))
    for j in range(X.shape[1]):
        result *= X[:, j, None] ** powers[:, j]
    return result


def names_of(powers: np.ndarray, columns: list[str]) -> list[str]:
    """Return names such as ``x0^2 x1``."""
    texts = []
    for row in powers:
        parts = [f"{c}^{p}" if p > 1 else str(c) for c, p in zip(columns, row, strict=True) if p]
        texts.append(" ".join(parts) or "1")
    return texts


class PolynomialBasis(BasisMixin, BaseEstimator):
    r"""All monomials of the columns up to a degree.

    .. math:: \phi(x) = \big( x_1^{k_1} \cdots x_d^{k_d} \big)_{1 \le |k| \le m} .

    Guarantee: a fit is a polynomial of that degree, so :math:`n` distinct numbers are interpolated by degree :math:`n - 1`; optimality is
    that of the model on these features (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    degree : int >= 1, default=2
        Largest degree :math:`m`.
    scale : bool, default=False
        Scale the training range of each column to [-1, 1] first: high powers are otherwise badly conditioned.

    Attributes
    ----------
    n_output_features_ : int
        Number of features; there is no constant feature, because models have an intercept.
    certificate_ : Certificate
        States whether the map depends on the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import PolynomialBasis
    >>> PolynomialBasis(degree=3).fit_transform([[2.0], [3.0]])
    array([[ 2.,  4.,  8.],
           [ 3.,  9., 27.]])
    """

    _rules = {"degree": COUNT, "scale": BOOLEAN}
    _numbers = ("center_", "half_range_", "powers_")

    def __init__(self, degree=2, *, scale=False):
        self.degree = degree
        self.scale = scale

    def _place(self, X):
        low, high = X.min(axis=0), X.max(axis=0)
        self.center_ = (low + high) / 2 if self.scale else np.zeros(X.shape[1])
        self.half_range_ = np.where(high > low, (high - low) / 2, 1.0) if self.scale else np.ones(X.shape[1])
        self.powers_ = exponents(X.shape[1], self.degree)[1:]

    def _features(self, X):
        return monomials((X - self.center_) / self.half_range_, self.powers_)

    def _names(self, columns):
        return names_of(self.powers_, columns)


class KernelPolynomialFeatures(BasisMixin, BaseEstimator):
    r"""Monomials scaled so that their inner products are the polynomial kernel.

    .. math::

        \phi(x)_k = \sqrt{\frac{p!}{(p - |k|)! \prod_i k_i!}} \prod_i x_i^{k_i}, \quad |k| \le p, \qquad
        \langle \phi(x), \phi(x') \rangle = (1 + \langle x, x' \rangle)^p .

    The constant is among the features, so use ``fit_intercept=False``; there are :math:`\binom{d + p}{p}` features.

    Guarantee: the inner products of any two rows equal the kernel up to a stated relative error; the checker compares the squared scales
    with the multinomial coefficients. A linear model on these features is equivalent to the kernel model (theory:
    :ref:`least-squares-gap`).

    Parameters
    ----------
    degree : int >= 1, default=2
        Degree :math:`p`.

    Attributes
    ----------
    n_output_features_ : int
        Number of features.
    powers_ : ndarray of shape (n_output_features, n_features)
        Exponents :math:`k`.
    scales_ : ndarray of shape (n_output_features,)
        Square roots in the formula.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import KernelPolynomialFeatures
    >>> phi = KernelPolynomialFeatures(degree=3).fit_transform([[2.0], [5.0]])
    >>> print(round(float(phi[0] @ phi[1]), 9), (1 + 2 * 5) ** 3)
    1331.0 1331
    """

    _rules = {"degree": COUNT}
    _numbers = ("powers_", "scales_")
    _claimed = ("bases.kernel", "bases.map")

    def __init__(self, degree=2):
        self.degree = degree

    def _place(self, X):
        self.powers_ = exponents(X.shape[1], self.degree)
        p = self.degree
        self.scales_ = np.array(
            [sqrt(factorial(p) // (factorial(p - sum(k)) * prod(map(factorial, k)))) for k in self.powers_.tolist()]
        )

    def _features(self, X):
        return monomials(X, self.powers_) * self.scales_

    def _names(self, columns):
        return names_of(self.powers_, columns)
