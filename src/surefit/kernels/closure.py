"""Kernels derived from a kernel: weighting by a function, polynomials, the exponential, normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import Rule
from surefit.kernels.combined import KERNEL, _Wrapped, row_products, square
from surefit.kernels.rows import CombinedRows


def _is_coefficients(value) -> bool:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and len(numbers) > 0 and bool(np.all((numbers >= 0) & np.isfinite(numbers)))


COEFFICIENTS = Rule("a list of finite numbers >= 0", _is_coefficients)


class _Weighed(_Wrapped):
    """Kernel f(x) k(x, x') f(x'); a class defines f."""

    weights: Any  # (sample) -> f of each element

    def _gram(self, A, B):
        a = self.weights(A)
        return self.kernel._gram(A, B) * (a[:, None] * (a if A is B else self.weights(B)))

    def read(self, X):
        """Validate a sample; a precomputed matrix is rejected, because it does not determine f at new elements."""
        if self.takes == "values":
            raise InvalidParameter(
                type(self).__name__,
                "kernel",
                "a kernel that can be evaluated (apply the weights to a precomputed matrix yourself)",
                self.kernel,
            )
        return super().read(X)

    def _prepared(self, A, dtype):
        return _WeighedRows(self, A, dtype)

    def feature_map(self, X) -> np.ndarray:
        """Return the features times f."""
        return self.weights(self.read(X))[:, None] * self.kernel.feature_map(X)


class _WeighedRows(CombinedRows):
    """Rows of a weighted kernel; f is computed once."""

    def __init__(self, kernel: _Weighed, A, dtype=np.float64):
        super().__init__(kernel, A, dtype)
        self.weights = kernel.weights(A)

    def _values(self, indices):
        values = self.parts[0]._values(indices) * (self.weights[indices, None] * self.weights)
        return np.ascontiguousarray(values, dtype=self.dtype)


class Warped(_Weighed):
    r"""Kernel :math:`f(x) k(x, x') f(x')` for any real function :math:`f`; the features are :math:`f \phi`.

    Guarantee: positive semidefinite if :math:`k` is (theory: :ref:`kernel-algebra`).

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k`.
    function : callable(sample) -> array of shape (n,)
        The function :math:`f`, evaluated for all elements of a sample.

    Examples
    --------
    The Gaussian kernel from the exponential of an inner product:

    >>> import numpy as np
    >>> from surefit.kernels import Exponential, Linear, Warped
    >>> kernel = Warped(Exponential(Linear()), lambda X: np.exp(-np.sum(X**2, axis=1) / 2))
    >>> kernel([[0.0]], [[1.0]]).round(4)
    array([[0.6065]])
    """

    _rules = {"kernel": KERNEL, "function": Rule("a function of a sample", callable)}
    stationary = False

    def __init__(self, kernel, function):
        self.kernel = kernel
        self.function = function

    def weights(self, A) -> np.ndarray:
        """Return f at each element."""
        values = np.asarray(self.function(A), dtype=np.float64)
        if values.shape != (A.shape[0],):
            raise InvalidData(
                f"Warped: the function must return {A.shape[0]} numbers, one per element; got {values.shape}."
            )
        return values

    def _diagonal(self, A):
        return self.weights(A) ** 2 * self.kernel._diagonal(A)

    def _derivatives(self, A, K):
        f = self.weights(A)
        inner = self.kernel._derivatives(A, square(self.kernel, A))
        return [lambda derivative=derivative: f[:, None] * f * derivative() for derivative in inner]


class PolynomialOf(_Wrapped):
    r"""Polynomial :math:`\sum_p a_p k^p` with coefficients :math:`a_p \ge 0`.

    Guarantee: positive semidefinite if :math:`k` is.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k`.
    coefficients : list of float >= 0
        :math:`a_0, a_1, \dots`

    Examples
    --------
    >>> from surefit.kernels import Linear, PolynomialOf
    >>> PolynomialOf(Linear(), [1.0, 1.0, 1.0])([[2.0]], [[3.0]])
    array([[43.]])
    """

    _rules = {"kernel": KERNEL, "coefficients": COEFFICIENTS}

    def __init__(self, kernel, coefficients):
        self.kernel = kernel
        self.coefficients = coefficients

    def _combined(self, values):
        return np.polynomial.polynomial.polyval(values, np.asarray(self.coefficients, dtype=np.float64))

    def _derivatives(self, A, K):
        inner = square(self.kernel, A)
        outer = np.polynomial.Polynomial(np.asarray(self.coefficients, dtype=np.float64)).deriv()(inner)
        return [lambda derivative=derivative: outer * derivative() for derivative in self.kernel._derivatives(A, inner)]

    def feature_map(self, X) -> np.ndarray:
        """Return the products of the features, degree by degree, times the square root of the coefficient."""
        F = self.kernel.feature_map(X)
        power, parts = np.ones((len(F), 1)), []
        for a in self.coefficients:
            parts.append(np.sqrt(float(a)) * power)
            power = row_products(power, F)
        return np.hstack(parts)


class Exponential(_Wrapped):
    r"""Exponential :math:`e^{k(x, x')}`: the limit of polynomials with coefficients :math:`1/p!`.

    Guarantee: positive semidefinite if :math:`k` is.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k`.

    Examples
    --------
    >>> from surefit.kernels import Exponential, Linear
    >>> Exponential(Linear())([[1.0]], [[2.0]]).round(4)
    array([[7.3891]])
    """

    _rules = {"kernel": KERNEL}

    def __init__(self, kernel):
        self.kernel = kernel

    def _combined(self, values):
        return np.exp(values)

    def _derivatives(self, A, K):
        inner = self.kernel._derivatives(A, square(self.kernel, A))
        return [lambda derivative=derivative: K * derivative() for derivative in inner]


class Normalized(_Weighed):
    r"""Normalized kernel :math:`k(x, x') / \sqrt{k(x, x) k(x', x')}`: the cosine of the angle between features.

    Guarantee: positive semidefinite if :math:`k` is, with values from -1 to 1. An element without features, :math:`k(x, x) = 0`, has the
    value 0 with every element, including itself.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k`.

    Examples
    --------
    >>> from surefit.kernels import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]])
    array([[0.6, 0. ]])
    """

    _rules = {"kernel": KERNEL}

    def __init__(self, kernel):
        self.kernel = kernel

    def weights(self, A) -> np.ndarray:
        """Return the reciprocal of the feature norm of each element, zero if the norm is zero."""
        squares = self.kernel._diagonal(A)
        norms = np.sqrt(np.maximum(squares, 0.0))
        return np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)

    def _diagonal(self, A):
        return (self.weights(A) > 0).astype(np.float64)

    def _derivatives(self, A, K):
        inner, norms = square(self.kernel, A), self.weights(A)

        def derivative_of(derivative):
            change = derivative()
            own = np.diagonal(change) * norms**2
            return change * (norms[:, None] * norms) - K * (own[:, None] + own) / 2

        return [
            lambda derivative=derivative: derivative_of(derivative) for derivative in self.kernel._derivatives(A, inner)
        ]
