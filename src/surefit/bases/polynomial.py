from itertools import combinations_with_replacement
from math import comb, factorial, prod, sqrt

import numpy as np
from sklearn.base import BaseEstimator

from surefit.bases.base import BasisMixin
from surefit.core.claims import Claim
from surefit.core.validation import BOOLEAN, COUNT


def exponents(columns: int, degree: int) -> np.ndarray:
    """Return the exponents of all monomials of degree 0 to ``degree``, one row each, by rising degree."""
    chosen = (c for k in range(degree + 1) for c in combinations_with_replacement(range(columns), k))
    return np.array([[c.count(j) for j in range(columns)] for c in chosen], dtype=np.int64).reshape(-1, columns)


def monomials(X: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Return one column a row of ``powers``."""
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
    r"""All products of columns up to a degree.

    .. math:: \phi(x) = \big( x_1^{k_1} \cdots x_d^{k_d} \big)_{1 \le |k| \le m} .

    Guarantee: a fit on it is a polynomial of that degree, so :math:`n` distinct numbers are interpolated by degree :math:`n - 1`;
    optimality is that of the model on top (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    degree : int >= 1, default=2
        Largest degree :math:`m`.
    scale : bool, default=False
        Map each column's training range onto [-1, 1] first: high powers are badly conditioned otherwise.

    Attributes
    ----------
    n_output_features_ : int
        Number of features; no constant, the model has its intercept.
    certificate_ : Certificate
        Says whether the map looked at the rows.
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

    def __init__(self, degree=2, *, scale=False):
        self.degree = degree
        self.scale = scale

    def _place(self, X):
        low, high = X.min(axis=0), X.max(axis=0)
        self.centre_ = (low + high) / 2 if self.scale else np.zeros(X.shape[1])
        self.half_range_ = np.where(high > low, (high - low) / 2, 1.0) if self.scale else np.ones(X.shape[1])
        self.powers_ = exponents(X.shape[1], self.degree)[1:]
        return self.scale

    def _features(self, X):
        return monomials((X - self.centre_) / self.half_range_, self.powers_)

    def _names(self, columns):
        return names_of(self.powers_, columns)


class KernelPolynomialFeatures(BasisMixin, BaseEstimator):
    r"""Monomials scaled so that inner products are the polynomial kernel.

    .. math::

        \phi(x)_k = \sqrt{\frac{p!}{(p - |k|)! \prod_i k_i!}} \prod_i x_i^{k_i}, \quad |k| \le p, \qquad
        \langle \phi(x), \phi(x') \rangle = (1 + \langle x, x' \rangle)^p .

    The constant is among the features, so use it with ``fit_intercept=False``; there are :math:`\binom{d + p}{p}`.

    Guarantee: on the training rows the inner products equal the kernel up to rounding; the checker recomputes both sides. A linear
    model on these features is the kernel model (theory: :ref:`least-squares-gap` for what is proved about it).

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
        The roots.
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

    def __init__(self, degree=2):
        self.degree = degree

    def _place(self, X):
        self.powers_ = exponents(X.shape[1], self.degree)
        p = self.degree
        self.scales_ = np.array(
            [sqrt(factorial(p) // (factorial(p - sum(k)) * prod(map(factorial, k)))) for k in self.powers_.tolist()]
        )
        return False

    def _problem(self):
        return {"degree": int(self.degree), "columns": int(self.n_features_in_)}

    def _extra_claims(self, X):
        expected = comb(X.shape[1] + self.degree, self.degree)
        return [
            Claim(
                "bases.kernel",
                "data_fact",
                f"Inner products of the {expected} features are the polynomial kernel on the training rows.",
                value=1e-10,
                limit=1e-10,
                witness={"powers": self.powers_.astype(np.float64), "scales": self.scales_},
            )
        ]

    def _features(self, X):
        return monomials(X, self.powers_) * self.scales_

    def _names(self, columns):
        return names_of(self.powers_, columns)
