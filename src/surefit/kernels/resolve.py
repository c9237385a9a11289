"""Conversion of a user's kernel argument to a kernel object, with the data-dependent ``gamma``.

The variance in ``gamma="scale"`` is bitwise reproducible on every machine, because it is part of the problem
definition.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidParameter
from surefit.core.jit import compiled
from surefit.core.partitioned import Part, PartitionedRows, rounded
from surefit.core.partitioned import exact_sum as whole_sum
from surefit.kernels.base import CLASSES, Kernel
from surefit.kernels.closure import Normalized
from surefit.kernels.external import from_scikit_learn
from surefit.kernels.function import Function
from surefit.kernels.laplacian import Laplacian
from surefit.kernels.linear import Linear
from surefit.kernels.polynomial import Polynomial
from surefit.kernels.precomputed import Precomputed
from surefit.kernels.rbf import RBF
from surefit.kernels.sigmoid import Sigmoid

#: The names scikit-learn uses.
NAMES = ("linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "precomputed")

FAR = 2.0**512  # larger values are scaled by this factor so that sums do not overflow
TOO_LARGE = 1 << 4096  # represents infinity in exact sums
LEVELS = 3  # with 53 - log2(n) bits each: more than twice the digits of a float64


def resolve(kernel, *, gamma="scale", degree=3, coef0=0.0, X=None, weights=None, who: str = "resolve") -> Kernel:
    """Return the kernel for a name, a function or a kernel object.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A kernel object is returned unchanged. Names: "linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "precomputed" as in
        scikit-learn, or the name of a class of ``surefit.kernels`` that needs no argument ("Matern"). A function takes two samples and
        returns the values between them, or two rows and returns one value. Kernels of scikit-learn's Gaussian processes are translated.
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of "rbf", "poly", "sigmoid" and "laplacian"; see :func:`gamma_of`.
    degree : int >= 1, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    X : array or sparse matrix, optional
        The training rows; needed for gamma="scale" and gamma="auto".
    weights : array of shape (n_rows,), optional
        Weight of each row, for gamma="scale".
    who : str
        Name of the estimator in error messages.

    Examples
    --------
    >>> from surefit.kernels import resolve
    >>> resolve("rbf", gamma=0.5), resolve("poly", gamma="auto", X=[[0.0, 1.0]])
    (RBF(gamma=0.5), Polynomial(coef0=0.0, gamma=0.5))
    """
    found = _resolved(kernel, gamma, degree, coef0, X, weights, who)
    found.require_valid()
    return found


def _resolved(kernel, gamma, degree, coef0, X, weights, who: str) -> Kernel:
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidParameter(who, "kernel", f"an object, {kernel.__name__}(...), not the class", kernel)
    if isinstance(kernel, str):
        return _named(kernel, gamma, degree, coef0, X, weights, who)
    translated = from_scikit_learn(kernel)
    if translated is not None:
        return translated
    if callable(kernel):
        return Function(kernel)
    raise InvalidParameter(
        who, "kernel", f"one of {', '.join(map(repr, NAMES))}, a function of two samples, or a kernel", kernel
    )


def _named(name: str, gamma, degree, coef0, X, weights, who: str) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "precomputed":
        return Precomputed()
    if name == "cosine":
        return Normalized(Linear())
    if name in ("rbf", "poly", "polynomial", "laplacian", "sigmoid"):
        width = gamma_of(gamma, X, who, weights)
        if name == "rbf":
            return RBF(gamma=width)
        if name == "laplacian":
            return Laplacian(gamma=width)
        if name == "sigmoid":
            return Sigmoid(gamma=width, coef0=float(coef0))
        return Polynomial(degree=degree, gamma=width, coef0=float(coef0))
    try:
        return CLASSES[name]()
    except (KeyError, TypeError):
        raise InvalidParameter(
            who, "kernel", f"one of {', '.join(map(repr, NAMES))}, or a kernel of surefit.kernels", name
        ) from None


def gamma_of(gamma, X: Any = None, who: str = "gamma_of", weights=None) -> float:
    """Return gamma as a number: "scale" is 1 / (d Var(X)), "auto" is 1 / d, as in scikit-learn's SVC.

    Examples
    --------
    >>> from surefit.kernels import gamma_of
    >>> gamma_of("scale", [[0.0, 1.0], [2.0, 3.0]]), gamma_of("auto", [[0.0, 1.0], [2.0, 3.0]]), gamma_of(0.5)
    (0.4, 0.5, 0.5)
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma not in ("scale", "auto"):
        raise InvalidParameter(who, "gamma", '"scale", "auto" or a number > 0', gamma)
    if X is None:
        raise InvalidParameter(who, "gamma", "a number > 0 if there is no sample", gamma)
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    spread = X.shape[1] * variance(X, weights)
    # If all rows are equal, or if squares overflow, the sample has no scale.
    return 1.0 / spread if 0.0 < spread < np.inf and np.isfinite(1.0 / spread) else 1.0


def exact_sum(terms: np.ndarray) -> float:
    """Return the sum of finite numbers, independent of their order and of the processor.

    Each level rounds the terms to multiples of a power of two that is so coarse that their sum has no rounding error in any order. The
    remainders, which are exact, go to the next level.
    """
    rest = np.asarray(terms, dtype=np.float64).ravel(order="K")
    largest = float(np.abs(rest).max(initial=0.0))
    if not math.isfinite(largest):
        return float(np.sum(rest))
    if largest > FAR:
        return exact_sum(rest / FAR) * FAR
    return math.fsum(_levels(rest, largest))


def _levels(rest: np.ndarray, largest: float) -> list[float]:
    """Split the terms into levels of decreasing size and return the exact sum of each; ``largest`` is their largest absolute value."""
    room = math.ceil(math.log2(max(len(rest), 2))) + 1
    return _level_sums(rest.copy(), largest, room).tolist()


@compiled
def _level_sums(rest, largest, room):
    """Return the sum of each level; ``rest`` is overwritten. Every sum is exact, so its order has no effect."""
    sums = np.zeros(LEVELS)
    for level in range(LEVELS):
        if largest == 0.0:
            break
        anchor = math.ldexp(1.5, math.frexp(largest)[1] + room)
        total = largest = 0.0
        for i in range(len(rest)):
            coarse = (rest[i] + anchor) - anchor
            total += coarse
            rest[i] -= coarse
            largest = max(largest, abs(rest[i]))
        sums[level] = total
    return sums


def _whole_sum(terms: np.ndarray) -> int:
    """Return the sum of ``terms``, rounded to the levels, as an integer in the units of :func:`surefit.core.partitioned.exact_sum`."""
    rest = np.ravel(terms, order="K")
    largest = float(np.max(np.abs(rest), initial=0.0))
    if not largest < math.inf:
        return TOO_LARGE
    if largest > FAR:
        return _whole_sum(rest / FAR) << 512
    return whole_sum(np.array(_levels(rest, largest)))


def variance(X: Any, weights: np.ndarray | None = None) -> float:
    """Return the variance of all entries of ``X``, weighted by ``weights`` or, for rows in partitions, by their own weights."""
    n, d = X.shape
    if isinstance(X, PartitionedRows):
        mean = _nearest(X.map_reduce(_entries)) / (X.total_weight * d)
        return _nearest(X.map_reduce(_squares, mean)) / (X.total_weight * d)
    if sparse.issparse(X):
        X = X.tocsr()
        values, times = np.asarray(X.data, dtype=np.float64), np.diff(X.indptr)
        absent = d - times
        each = None if weights is None else np.repeat(weights, times)
    else:
        values = np.asarray(X, dtype=np.float64)
        absent = None
        each = None if weights is None else weights[:, None]
    total = float(n) if weights is None else exact_sum(weights)
    mean = exact_sum(values if each is None else values * each) / (total * d)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (values - mean) ** 2
        result = exact_sum(squares if each is None else squares * each)
        if absent is not None:
            zeros = float(np.sum(absent)) if weights is None else exact_sum(weights * absent)
            result += zeros * mean**2
    return result / (total * d)


def _entries(part: Part) -> int:
    values = np.asarray(part.X, dtype=np.float64)
    return _whole_sum(values if part.weights is None else values * part.weights[:, None])


def _squares(part: Part, mean: float) -> int:
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (np.asarray(part.X, dtype=np.float64) - mean) ** 2
        return _whole_sum(squares if part.weights is None else squares * part.weights[:, None])


def _nearest(total: int) -> float:
    try:
        return rounded(total)
    except OverflowError:
        return math.inf
