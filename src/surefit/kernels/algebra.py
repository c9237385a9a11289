"""Sums, products, positive multiples and powers of kernels, with their feature maps."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import BOUNDS, COUNT, POSITIVE
from surefit.kernels.base import Kernel
from surefit.kernels.combined import KERNEL, _Combined, _Wrapped, prefixed, row_products, square
from surefit.kernels.constant import Constant
from surefit.kernels.hyperparameters import Hyperparameter
from surefit.kernels.polynomial import integer_power
from surefit.kernels.vectors import in_parts


class _Pair(_Combined):
    """Combination of two kernels on the same kind of sample."""

    _rules = {"left": KERNEL, "right": KERNEL}
    _sign = ""

    def __init__(self, left, right) -> None:
        self.left = left
        self.right = right

    @property
    def k1(self) -> Kernel:
        """The left kernel, under scikit-learn's name."""
        return self.left

    @property
    def k2(self) -> Kernel:
        """The right kernel, under scikit-learn's name."""
        return self.right

    @property
    def takes(self) -> str:  # type: ignore[override]
        """Kind of sample of both kernels."""
        kinds = {part.takes for part in (self.left, self.right)} - {"anything"}
        if len(kinds) > 1:
            raise InvalidParameter(
                type(self).__name__, "right", f"a kernel on {self.left.takes}, like the left kernel", self.right
            )
        return kinds.pop() if kinds else "anything"

    @property
    def positive_semidefinite(self) -> bool | None:  # type: ignore[override]
        """True if both kernels are known to be positive semidefinite."""
        return True if self.left.positive_semidefinite and self.right.positive_semidefinite else None

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """True if both kernels are stationary."""
        return self.left.stationary and self.right.stationary

    def read(self, X):
        """Validate a sample for both kernels."""
        kind = self.takes
        return (self.left if self.left.takes == kind else self.right).read(X)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Hyperparameters of the left kernel, followed by those of the right kernel."""
        return prefixed("left", self.left) + prefixed("right", self.right)

    def _parts(self) -> tuple[Kernel, ...]:
        return self.left, self.right

    def _squares(self, A) -> tuple[np.ndarray, np.ndarray]:
        """Return both Gram matrices of one sample."""
        return square(self.left, A), square(self.right, A)

    def __repr__(self, N_CHAR_MAX=700):
        return f"{_in_brackets(self, self.left)} {self._sign} {_in_brackets(self, self.right)}"


class Sum(_Pair):
    r"""Sum :math:`k_1 + k_2`; its feature map concatenates the features of both kernels.

    Parameters
    ----------
    left, right : Kernel
        The terms.

    Examples
    --------
    >>> from surefit.kernels import Linear, RBF
    >>> kernel = Linear() + RBF(gamma=1.0)
    >>> kernel, sorted(kernel.get_params())[:3]
    (Linear() + RBF(gamma=1.0), ['left', 'right', 'right__gamma'])
    """

    _sign = "+"

    def _combined(self, left, right):
        return left + right

    def _derivatives(self, A, K):
        left, right = self._squares(A)
        return self.left._derivatives(A, left) + self.right._derivatives(A, right)

    def feature_map(self, X) -> np.ndarray:
        """Return the concatenated features of both kernels."""
        return np.hstack([self.left.feature_map(X), self.right.feature_map(X)])


class Product(_Pair):
    r"""Product :math:`k_1 k_2` (Schur); its features are all products of a feature of each kernel.

    Parameters
    ----------
    left, right : Kernel
        The factors.

    Examples
    --------
    >>> from surefit.kernels import Linear
    >>> (Linear() * Linear())([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    _sign = "*"

    def _combined(self, left, right):
        return left * right

    def _derivatives(self, A, K):
        left, right = self._squares(A)
        by_left = [lambda derivative=derivative: derivative() * right for derivative in self.left._derivatives(A, left)]
        return by_left + [
            lambda derivative=derivative: left * derivative() for derivative in self.right._derivatives(A, right)
        ]

    def feature_map(self, X) -> np.ndarray:
        """Return all products of a feature of each kernel."""
        return row_products(self.left.feature_map(X), self.right.feature_map(X))


class Scaled(_Wrapped):
    r"""Positive multiple :math:`c\, k`.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float > 0, default=1.0
        The factor :math:`c`. In a Gaussian process, it is the prior variance if :math:`k(x, x) = 1`.
    factor_bounds : pair or "fixed", default=(1e-5, 1e5)
        Search range for hyperparameter learning in a Gaussian process.

    Examples
    --------
    >>> from surefit.kernels import RBF
    >>> 2.0 * RBF()
    2.0 * RBF()
    >>> (2.0 * RBF()).diag([[0.0]])
    array([2.])
    """

    _rules = {"kernel": KERNEL, "factor": POSITIVE, "factor_bounds": BOUNDS}

    def __init__(self, kernel, factor=1.0, factor_bounds=(1e-5, 1e5)) -> None:
        self.kernel = kernel
        self.factor = factor
        self.factor_bounds = factor_bounds

    @property
    def k1(self) -> Kernel:
        """The factor as a constant kernel, under scikit-learn's name."""
        return Constant(self.factor, self.factor_bounds)

    @property
    def k2(self) -> Kernel:
        """The inner kernel, under scikit-learn's name."""
        return self.kernel

    def _combined(self, values):
        return in_parts(np.multiply, values, values.dtype.type(self.factor))

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The factor, followed by the hyperparameters of the inner kernel."""
        return self._own("factor") + prefixed("kernel", self.kernel)

    def _derivatives(self, A, K):
        inner = self.kernel._derivatives(A, in_parts(np.divide, K, self.factor))
        return [lambda: K] + [lambda own=own: in_parts(np.multiply, own(), self.factor) for own in inner]

    def feature_map(self, X) -> np.ndarray:
        """Return the features times the square root of the factor."""
        return np.sqrt(float(self.factor)) * self.kernel.feature_map(X)

    def __repr__(self, N_CHAR_MAX=700):
        return f"{self.factor!r} * {_in_brackets(self, self.kernel)}"


class Power(_Wrapped):
    r"""Integer power :math:`k^p`.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    exponent : int >= 1, default=2
        The exponent :math:`p`.

    Examples
    --------
    >>> from surefit.kernels import Linear
    >>> ((Linear() + 1.0) ** 3)([[2.0]], [[3.0]])
    array([[343.]])
    """

    _rules = {"kernel": KERNEL, "exponent": COUNT}

    def __init__(self, kernel, exponent=2):
        self.kernel = kernel
        self.exponent = exponent

    def _combined(self, values):
        return integer_power(values, self.exponent)

    def _derivatives(self, A, K):
        inner = square(self.kernel, A)
        outer = self.exponent * (integer_power(inner, self.exponent - 1) if self.exponent > 1 else np.ones_like(inner))
        return [lambda derivative=derivative: outer * derivative() for derivative in self.kernel._derivatives(A, inner)]

    def feature_map(self, X) -> np.ndarray:
        """Return all products of ``exponent`` features."""
        F = self.kernel.feature_map(X)
        result = F
        for _ in range(self.exponent - 1):
            result = row_products(result, F)
        return result

    def __repr__(self, N_CHAR_MAX=700):
        return f"{_in_brackets(self, self.kernel)} ** {self.exponent!r}"


def _in_brackets(outer: Kernel, inner: Kernel) -> str:
    loose = {Sum: (Sum, Product, Scaled), Product: (Product, Scaled), Scaled: (Product, Scaled), Power: ()}[type(outer)]
    return (
        f"({inner!r})"
        if isinstance(inner, (Sum, Product, Scaled, Power)) and not isinstance(inner, loose)
        else f"{inner!r}"
    )
