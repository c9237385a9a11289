r"""Distances in feature space, :math:`\|\phi(x) - \phi(y)\|^2 = k(x, x) + k(y, y) - 2 k(x, y)`, computed without cancellation.

For nearby elements, the formula loses all digits to cancellation, and the computed square may be negative. Each kernel
class registers here how its squared distance follows from differences of the elements. The squared distances for sums,
products, powers and other combinations follow from those for their parts.
"""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import gammainc

from surefit.core.errors import InvalidData
from surefit.kernels import algebra, brownian, closure, constant, matern, periodic, polynomial, rational_quadratic, rbf
from surefit.kernels.laplacian import Laplacian
from surefit.kernels.linear import DotProduct, Linear
from surefit.kernels.vectors import center_of, dense, square_distances, square_norms

FEW_COLUMNS = 64  # up to this many columns, distances come from differences; otherwise, a matrix product comes first
NEAR = 1e-6  # squared distance, in units of the squared norms, below which a product has lost too many digits
NEGATIVE = -1e-9  # a squared distance this far below zero, relative to the diagonals, is not a rounding error


class Apart(NamedTuple):
    """Squared feature norms of two samples, their differences, and squared distances."""

    own: np.ndarray  # (n, 1): k(x, x)
    other: np.ndarray  # (1, m): k(y, y)
    difference: np.ndarray  # (n, m): k(x, x) - k(y, y)
    squares: np.ndarray  # (n, m)


@singledispatch
def apart(kernel, A, B) -> Apart:
    """Return squared distances of two validated samples by subtraction; for kernels without a registered function."""
    own, other = _diagonals(kernel, A, B)
    squares = own + other - 2.0 * kernel._checked(kernel._gram(A, B), A, B, np.float64)
    least = np.min(squares, initial=0.0)
    if least < NEGATIVE * (np.max(np.abs(own), initial=0.0) + np.max(np.abs(other), initial=0.0)):
        i, j = np.unravel_index(int(np.argmin(squares)), squares.shape)
        raise InvalidData(
            f"{type(kernel).__name__}: k(x, x) + k(y, y) - 2 k(x, y) must be >= 0; it is {least:.3g} for elements {i} and {j}. "
            "The function is not a kernel: it has no feature space."
        )
    return Apart(own, other, own - other, np.maximum(squares, 0.0))


def _diagonals(kernel, A, B) -> tuple[np.ndarray, np.ndarray]:
    own = np.asarray(kernel._diagonal(A), dtype=np.float64)
    return own[:, None], (own if A is B else np.asarray(kernel._diagonal(B), dtype=np.float64))[None, :]


def euclidean_squares(A, B, lengths=1.0) -> np.ndarray:
    """Return squared distances in units of the length scales; those of nearby rows are computed from differences."""
    scaled = np.ndim(lengths) > 0 or lengths != 1.0
    if sparse.issparse(A) or sparse.issparse(B):
        if scaled:
            A, B = (sparse.csr_array(X).multiply(1.0 / np.asarray(lengths)).tocsr() for X in (A, B))
        return square_distances(A, B)
    if scaled:
        same, A = A is B, A / lengths
        B = A if same else B / lengths
    if A.shape[1] <= FEW_COLUMNS:
        return cdist(A, B, "sqeuclidean")
    squares, center = square_distances(A, B), center_of(B)
    sizes = square_norms(A - center)[:, None] + square_norms(B - center)
    i, j = np.nonzero(squares < NEAR * sizes)
    for part in np.array_split(np.arange(len(i)), max(1, len(i) * A.shape[1] // 2**22)):
        squares[i[part], j[part]] = np.sum((A[i[part]] - B[j[part]]) ** 2, axis=1)
    return squares


def _stationary(kernel, A, B, squares: np.ndarray) -> Apart:
    one = np.ones((1, 1))
    return Apart(one, one, np.zeros((1, 1)), squares)


@apart.register
def _(kernel: Linear, A, B) -> Apart:
    own, other = _diagonals(kernel, A, B)
    difference = own - other
    if not (sparse.issparse(A) or sparse.issparse(B)) and A.shape[1] <= FEW_COLUMNS:
        difference = np.zeros_like(difference)
        for j in range(A.shape[1]):
            difference += np.subtract.outer(A[:, j], B[:, j]) * np.add.outer(A[:, j], B[:, j])
    return Apart(own, other, difference, euclidean_squares(A, B))


@apart.register
def _(kernel: DotProduct, A, B) -> Apart:
    inner = apart(Linear(), A, B)
    constant = float(kernel.sigma_0) ** 2
    return Apart(inner.own + constant, inner.other + constant, inner.difference, inner.squares)


@apart.register
def _(kernel: polynomial.Polynomial, A, B) -> Apart:
    inner = apart(Linear(), A, B)
    g, c = float(kernel.gamma), float(kernel.coef0)
    base = Apart(g * inner.own + c, g * inner.other + c, g * inner.difference, g * inner.squares)
    return powered(base, int(kernel.degree))


@apart.register
def _(kernel: rbf.RBF, A, B) -> Apart:
    if kernel.gamma is None:
        return _stationary(kernel, A, B, -2.0 * np.expm1(-0.5 * euclidean_squares(A, B, kernel.lengths[()])))
    return _stationary(kernel, A, B, -2.0 * np.expm1(-kernel.gamma * euclidean_squares(A, B)))


@apart.register
def _(kernel: Laplacian, A, B) -> Apart:
    return _stationary(kernel, A, B, -2.0 * np.expm1(-kernel.gamma * cdist(dense(A), dense(B), "cityblock")))


@apart.register
def _(kernel: matern.Matern, A, B) -> Apart:
    r = np.sqrt(euclidean_squares(A, B, np.asarray(kernel.length_scale)[()]))
    if kernel.nu == 0.5:
        return _stationary(kernel, A, B, -2.0 * np.expm1(-r))
    t = np.sqrt(2.0 * kernel.nu) * r  # 1 - (1 + t) e^-t and 1 - (1 + t + t^2 / 3) e^-t, as sums of non-negative terms
    left = gammainc(2.0, t) if kernel.nu == 1.5 else gammainc(3.0, t) + t**2 / 6.0 * np.exp(-t)
    return _stationary(kernel, A, B, 2.0 * left)


@apart.register
def _(kernel: rational_quadratic.RationalQuadratic, A, B) -> Apart:
    q = euclidean_squares(A, B, kernel.length_scale) / (2.0 * kernel.alpha)
    return _stationary(kernel, A, B, -2.0 * np.expm1(-kernel.alpha * np.log1p(q)))


@apart.register
def _(kernel: periodic.Periodic, A, B) -> Apart:
    angles = kernel._sum(A, B, lambda angle: np.sin(angle) ** 2)
    return _stationary(kernel, A, B, -2.0 * np.expm1(-2.0 / kernel.length_scale**2 * angles))


@apart.register
def _(kernel: brownian.Min, A, B) -> Apart:
    own, other = _diagonals(kernel, A, B)
    difference = np.subtract.outer(A[:, 0], B[:, 0])
    return Apart(own, other, difference, np.abs(difference))


@apart.register
def _(kernel: brownian.IntegratedBrownian, A, B) -> Apart:
    own, other = _diagonals(kernel, A, B)
    a, b = kernel._times(A)[:, None], kernel._times(B)[None, :]
    gap = np.subtract.outer(A[:, 0], B[:, 0])
    difference = gap * (a * a + a * b + b * b) / 3.0
    return Apart(own, other, difference, gap**2 * (np.minimum(a, b) + np.abs(gap) / 3.0))


@apart.register
def _(kernel: constant.Constant, A, B) -> Apart:
    value = np.full((1, 1), float(kernel.value))
    return Apart(value, value, np.zeros((1, 1)), np.zeros((A.shape[0], B.shape[0])))


@apart.register
def _(kernel: algebra.Sum, A, B) -> Apart:
    left, right = apart(kernel.left, A, B), apart(kernel.right, A, B)
    return Apart(*(a + b for a, b in zip(left, right, strict=True)))


@apart.register
def _(kernel: algebra.Scaled, A, B) -> Apart:
    return Apart(*(float(kernel.factor) * part for part in apart(kernel.kernel, A, B)))


@apart.register
def _(kernel: algebra.Product, A, B) -> Apart:
    return multiplied(apart(kernel.left, A, B), apart(kernel.right, A, B))


@apart.register
def _(kernel: algebra.Power, A, B) -> Apart:
    return powered(apart(kernel.kernel, A, B), int(kernel.exponent))


@apart.register
def _(kernel: closure.PolynomialOf, A, B) -> Apart:
    inner, zero = apart(kernel.kernel, A, B), np.zeros((1, 1))
    total = Apart(zero, zero, zero, np.zeros((A.shape[0], B.shape[0])))
    power = Apart(zero + 1.0, zero + 1.0, zero, zero)
    for coefficient in kernel.coefficients:
        total = Apart(*(a + float(coefficient) * b for a, b in zip(total, power, strict=True)))
        power = multiplied(power, inner)
    return total


@apart.register
def _(kernel: closure.Exponential, A, B) -> Apart:
    inner = apart(kernel.kernel, A, B)
    own, other = np.exp(inner.own), np.exp(inner.other)
    middle, half = (inner.own + inner.other) / 2.0, inner.difference / 2.0
    squares = 2.0 * np.exp(middle) * (2.0 * np.sinh(half / 2.0) ** 2 - np.expm1(-inner.squares / 2.0))
    return Apart(own, other, 2.0 * np.exp(middle) * np.sinh(half), squares)


@apart.register
def _(kernel: closure.Warped, A, B) -> Apart:
    inner, f = apart(kernel.kernel, A, B), kernel.weights(A)[:, None]
    g = f.T if A is B else kernel.weights(B)[None, :]
    own, other = f**2 * inner.own, g**2 * inner.other
    squares = f * g * inner.squares + (f - g) * (f * inner.own - g * inner.other)
    return Apart(own, other, own - other, np.maximum(squares, 0.0))


@apart.register
def _(kernel: closure.Normalized, A, B) -> Apart:
    inner = apart(kernel.kernel, A, B)
    a, b = (np.sqrt(np.maximum(part, 0.0)) for part in (inner.own, inner.other))
    own, other = (a > 0.0).astype(np.float64), (b > 0.0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = (inner.squares - (inner.difference / (a + b)) ** 2) / (a * b)
    squares = np.where((own > 0.0) & (other > 0.0), np.maximum(cosines, 0.0), own + other)
    return Apart(own, other, own - other, squares)


def multiplied(left: Apart, right: Apart) -> Apart:
    """Return the distances for the product of two kernels."""
    squares = 0.5 * (
        left.difference * right.difference
        + (left.own + left.other) * right.squares
        + (right.own + right.other) * left.squares
        - left.squares * right.squares
    )
    difference = left.own * right.difference + right.other * left.difference
    return Apart(left.own * right.own, left.other * right.other, difference, np.maximum(squares, 0.0))


def powered(base: Apart, exponent: int) -> Apart:
    """Return the distances for a power of a kernel."""
    result = base
    for _ in range(exponent - 1):
        result = multiplied(result, base)
    return result
