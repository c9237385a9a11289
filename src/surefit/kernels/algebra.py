"""Sums, products, positive multiples and powers of kernels are kernels, with features to show for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, POSITIVE, Rule, check_params
from surefit.kernels.base import Kernel
from surefit.kernels.hyperparameters import BOUNDS, Hyperparameter
from surefit.kernels.polynomial import integer_power
from surefit.kernels.rows import CombinedRows

KERNEL = Rule("a kernel", lambda value: isinstance(value, Kernel))


def row_products(F: np.ndarray, G: np.ndarray) -> np.ndarray:
    """All products of a feature of ``F`` with one of ``G``, row by row."""
    return (F[:, :, None] * G[:, None, :]).reshape(len(F), -1)


class _Combined(Kernel):
    """A kernel whose values are a function ``_combined`` of the values of its ``_parts``."""

    _parts: Any  # () -> the kernels inside
    _combined: Any  # (their values) -> values

    def _gram(self, A, B):
        return self._combined(*(part._gram(A, B) for part in self._parts()))

    def _diagonal(self, A):
        return self._combined(*(part._diagonal(A) for part in self._parts()))

    def _prepared(self, A, dtype):
        return super()._prepared(A, dtype) if self.takes == "values" else CombinedRows(self, A, dtype)


class _Pair(_Combined):
    """Two kernels of the same kind of sample."""

    _rules = {"left": KERNEL, "right": KERNEL}
    _sign = ""

    def __init__(self, left, right):
        self.left = left
        self.right = right

    @property
    def takes(self) -> str:  # type: ignore[override]
        """What both kernels take."""
        kinds = {part.takes for part in (self.left, self.right)} - {"anything"}
        if len(kinds) > 1:
            raise InvalidParameter(
                type(self).__name__, "right", f"a kernel of {self.left.takes}, as the left one is", self.right
            )
        return kinds.pop() if kinds else "anything"

    @property
    def positive_semidefinite(self) -> bool | None:  # type: ignore[override]
        """True if both are known to be."""
        return True if self.left.positive_semidefinite and self.right.positive_semidefinite else None

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """True if both are."""
        return self.left.stationary and self.right.stationary

    def read(self, X):
        """Check a sample for both."""
        kind = self.takes
        for part in (self.left, self.right):
            check_params(part)
        return (self.left if self.left.takes == kind else self.right).read(X)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Those of the left kernel, then those of the right one."""
        return prefixed("left", self.left) + prefixed("right", self.right)

    def _parts(self) -> tuple[Kernel, ...]:
        return self.left, self.right

    def _squares(self, A) -> tuple[np.ndarray, np.ndarray]:
        """Both Gram matrices of one sample."""
        return square(self.left, A), square(self.right, A)

    def __repr__(self, N_CHAR_MAX=700):
        return f"{_in_brackets(self, self.left)} {self._sign} {_in_brackets(self, self.right)}"


class Sum(_Pair):
    r"""Sum :math:`k_1 + k_2`; the features of both, side by side.

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

    def _slopes(self, A, K):
        left, right = self._squares(A)
        return self.left._slopes(A, left) + self.right._slopes(A, right)

    def feature_map(self, X) -> np.ndarray:
        """Return the features of both."""
        return np.hstack([self.left.feature_map(X), self.right.feature_map(X)])


class Product(_Pair):
    r"""Product :math:`k_1 k_2` (Schur); the features are all products of one of each.

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

    def _slopes(self, A, K):
        left, right = self._squares(A)
        by_left = [lambda slope=slope: slope() * right for slope in self.left._slopes(A, left)]
        return by_left + [lambda slope=slope: left * slope() for slope in self.right._slopes(A, right)]

    def feature_map(self, X) -> np.ndarray:
        """Return all products of a feature of each."""
        return row_products(self.left.feature_map(X), self.right.feature_map(X))


class _Wrapped(_Combined):
    """A kernel made of one other; it takes the same samples."""

    kernel: Kernel

    def _parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def takes(self) -> str:  # type: ignore[override]
        """What the kernel inside takes."""
        return self.kernel.takes

    @property
    def positive_semidefinite(self) -> bool | None:  # type: ignore[override]
        """As the kernel inside."""
        return self.kernel.positive_semidefinite

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """As the kernel inside."""
        return self.kernel.stationary

    def read(self, X):
        """Check a sample for the kernel inside."""
        check_params(self.kernel)
        return self.kernel.read(X)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Those of the kernel inside."""
        return prefixed("kernel", self.kernel)


class Scaled(_Wrapped):
    r"""Positive multiple :math:`c\, k`.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float > 0, default=1.0
        The factor :math:`c`: the variance of a Gaussian process.
    factor_bounds : pair or "fixed", default=(1e-5, 1e5)
        Where a Gaussian process looks for it.

    Examples
    --------
    >>> from surefit.kernels import RBF
    >>> 2.0 * RBF()
    2.0 * RBF()
    >>> (2.0 * RBF()).diag([[0.0]])
    array([2.])
    """

    _rules = {"kernel": KERNEL, "factor": POSITIVE, "factor_bounds": BOUNDS}

    def __init__(self, kernel, factor=1.0, factor_bounds=(1e-5, 1e5)):
        self.kernel = kernel
        self.factor = factor
        self.factor_bounds = factor_bounds

    def _combined(self, values):
        return values * values.dtype.type(self.factor)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The factor, then those of the kernel inside."""
        return self._own("factor") + prefixed("kernel", self.kernel)

    def _slopes(self, A, K):
        inner = self.kernel._slopes(A, K / self.factor)
        return [lambda: K] + [lambda slope=slope: self.factor * slope() for slope in inner]

    def feature_map(self, X) -> np.ndarray:
        """Return the features times the root of the factor."""
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

    def _slopes(self, A, K):
        inner = square(self.kernel, A)
        outer = self.exponent * (integer_power(inner, self.exponent - 1) if self.exponent > 1 else np.ones_like(inner))
        return [lambda slope=slope: outer * slope() for slope in self.kernel._slopes(A, inner)]

    def feature_map(self, X) -> np.ndarray:
        """Return all products of ``exponent`` features."""
        F = self.kernel.feature_map(X)
        result = F
        for _ in range(self.exponent - 1):
            result = row_products(result, F)
        return result

    def __repr__(self, N_CHAR_MAX=700):
        return f"{_in_brackets(self, self.kernel)} ** {self.exponent!r}"


def square(kernel: Kernel, A) -> np.ndarray:
    """Return the Gram matrix of one sample that was read."""
    K = np.array(kernel._gram(A, A), dtype=np.float64)
    np.fill_diagonal(K, kernel._diagonal(A))
    return K


def prefixed(name: str, kernel: Kernel) -> tuple[Hyperparameter, ...]:
    """Return the hyper-parameters of a kernel inside, under the names that ``set_params`` knows."""
    return tuple(h._replace(name=f"{name}__{h.name}") for h in kernel.hyperparameters)


def _in_brackets(outer: Kernel, inner: Kernel) -> str:
    loose = {Sum: (Sum, Product, Scaled), Product: (Product, Scaled), Scaled: (Product, Scaled), Power: ()}[type(outer)]
    return (
        f"({inner!r})"
        if isinstance(inner, (Sum, Product, Scaled, Power)) and not isinstance(inner, loose)
        else f"{inner!r}"
    )
