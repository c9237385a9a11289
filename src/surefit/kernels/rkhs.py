"""Functions in the RKHS of a kernel, as finite sums."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels.base import Kernel


class RKHSFunction:
    r"""Function :math:`f = \sum_i c_i k(\cdot, x_i)` in the reproducing kernel Hilbert space of a kernel.

    Guarantee: :math:`\langle f, k(\cdot, x) \rangle = f(x)`, hence :math:`|f(x)| \le \|f\| \sqrt{k(x, x)}` (theory: :ref:`rkhs`). By
    the representer theorem every minimizer of a loss on :math:`f(x_i)` plus an increasing function of :math:`\|f\|` has this form.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    centers : sample
        The elements :math:`x_i`.
    coef : array of shape (n,)
        The coefficients :math:`c_i`.

    Examples
    --------
    >>> from surefit import RKHSFunction
    >>> from surefit.kernels import Min
    >>> f = RKHSFunction(Min(), [[1.0], [2.0]], [1.0, -0.5])
    >>> f([[0.5], [3.0]]), f.inner(f)
    (array([0.25, 0.  ]), 0.5)
    >>> g = RKHSFunction.section(Min(), [3.0])
    >>> float(f.inner(g)) == float(f([[3.0]])[0])
    True
    """

    def __init__(self, kernel: Kernel, centers, coef):
        if not isinstance(kernel, Kernel):
            raise InvalidParameter("RKHSFunction", "kernel", "a kernel of surefit.kernels", kernel)
        if kernel.takes == "values":
            raise InvalidParameter("RKHSFunction", "kernel", "a kernel that can be evaluated anywhere", kernel)
        self.kernel = kernel
        self.centers = kernel.read(centers)
        self.coef = np.asarray(coef, dtype=np.float64)
        if self.coef.shape != (self.centers.shape[0],):
            raise InvalidData(
                f"RKHSFunction: coef must be {self.centers.shape[0]} numbers, one per center; got shape {self.coef.shape}."
            )

    @classmethod
    def section(cls, kernel: Kernel, x) -> RKHSFunction:
        """Return the function k(., x), whose inner products are values at x."""
        return cls(kernel, [x], [1.0])

    @classmethod
    def interpolating(cls, kernel: Kernel, X, values) -> RKHSFunction:
        """Return the interpolating function of minimum norm with the given values at the elements of ``X``."""
        return cls(kernel, X, np.linalg.lstsq(kernel(X), np.asarray(values, dtype=np.float64), rcond=None)[0])

    def __call__(self, X) -> np.ndarray:
        """Return the values of the function at the elements of ``X``."""
        return self.kernel(X, self.centers) @ self.coef

    def inner(self, other: RKHSFunction) -> float:
        r"""Return the inner product :math:`c^\top k(x, x') c'` with a function of the same space."""
        self._require_same_space(other)
        return float(self.coef @ self.kernel(self.centers, other.centers) @ other.coef)

    def norm(self) -> float:
        r"""Return :math:`\|f\| = \sqrt{c^\top K c}`."""
        return float(np.sqrt(max(self.inner(self), 0.0)))

    def bound(self, X) -> np.ndarray:
        r"""Return :math:`\|f\| \sqrt{k(x, x)}`, an upper bound on the absolute value of the function."""
        return self.norm() * np.sqrt(self.kernel.diag(X))

    def __add__(self, other: RKHSFunction) -> RKHSFunction:
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        self._require_same_space(other)
        stack = np.concatenate if self.centers.ndim == 1 else _stacked
        return RKHSFunction(self.kernel, stack([self.centers, other.centers]), np.concatenate([self.coef, other.coef]))

    def __mul__(self, factor: float) -> RKHSFunction:
        return RKHSFunction(self.kernel, self.centers, float(factor) * self.coef)

    __rmul__ = __mul__

    def __neg__(self) -> RKHSFunction:
        return -1.0 * self

    def __sub__(self, other: RKHSFunction) -> RKHSFunction:
        return self + -other

    def __repr__(self) -> str:
        return f"RKHSFunction({self.kernel!r}, {len(self.coef)} centers, norm {self.norm():.6g})"

    def _require_same_space(self, other: RKHSFunction) -> None:
        if self.kernel != other.kernel:
            raise InvalidParameter(
                "RKHSFunction", "the other function", f"a function in the RKHS of {self.kernel!r}", other.kernel
            )


def _stacked(parts):
    from scipy import sparse

    return sparse.vstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.vstack(parts)
