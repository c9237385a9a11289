r"""Rounding-aware arithmetic for the checker: every number has a midpoint and a radius that enclose the true value.

A sum of :math:`k` products in IEEE double precision, in any order, has an error of at most :math:`\gamma_k \sum |a_i
b_i|`, :math:`\gamma_k = ku/(1-ku)`, :math:`u = 2^{-53}`. Products over many rows are computed in blocks, so :math:`k`
is the length of a block and not the number of rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

UNIT = 2.0**-53
BLOCK = 4096  # rows per block; bounds the k of gamma
SAFE = 1e-280  # sums of squares between this and its inverse have no digits lost by underflow, and no overflow


class Enclosed(NamedTuple):
    """Numbers known up to a radius: each true value lies in ``[mid - rad, mid + rad]``."""

    mid: np.ndarray
    rad: np.ndarray

    @property
    def magnitude(self) -> np.ndarray:
        """Largest possible absolute value."""
        return (np.abs(self.mid) + self.rad) * (1 + 4 * UNIT)


class Bound(NamedTuple):
    """A proved bound, and the rounding error by which another evaluation may differ."""

    value: float
    spread: float

    def plus(self, other: Bound) -> Bound:
        """Return an upper bound on the sum."""
        return Bound((self.value + other.value) * (1 + 2 * UNIT), self.spread + other.spread + 2 * UNIT * self.value)

    def over(self, divisor: float) -> Bound:
        """Return an upper bound on the quotient."""
        return Bound(self.value / divisor * (1 + 4 * UNIT), self.spread / divisor * (1 + 4 * UNIT))

    def root(self) -> Bound:
        """Return an upper bound on the square root."""
        value = math.sqrt(self.value) * (1 + 8 * UNIT)
        return Bound(value, value - math.sqrt(max(self.value - self.spread, 0.0)) * (1 - 8 * UNIT))


def gamma(k: int) -> float:
    """Return gamma_k, rounded up."""
    return k * UNIT / (1 - k * UNIT) * (1 + 4 * UNIT)


def row_blocks(n: int) -> list[slice]:
    """Return slices that divide the rows into blocks of at most ``BLOCK``."""
    return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def sums_exactly(terms: np.ndarray) -> bool:
    """Return whether sums of these numbers are exact: integers whose absolute values have a small total."""
    return bool(np.all(terms == np.rint(terms)) and np.sum(np.abs(terms)) < 2.0**52)


def rounded_sum(terms: np.ndarray) -> float:
    """Return the sum, rounded once; NumPy adds integers ten times as fast as ``math.fsum``."""
    return float(terms.sum()) if sums_exactly(terms) else math.fsum(terms)


def block_sum(terms: np.ndarray) -> float:
    """Return a sum by blocks; its error is at most ``gamma(BLOCK)`` times the sum of absolute values."""
    if len(terms) <= BLOCK:
        return float(terms.sum())
    return math.fsum(np.add.reduceat(terms, np.arange(0, len(terms), BLOCK)))


def upper_sum(terms: np.ndarray) -> float:
    """Return the sum of non-negative terms, rounded up."""
    return block_sum(terms) * (1 + gamma(min(len(terms), BLOCK)) + 2 * UNIT)


def length(vector: np.ndarray) -> float:
    """Return the Euclidean norm, rounded up, without overflow or underflow of squares."""
    if vector.size <= BLOCK:
        square = float(np.vdot(vector, vector))
        if SAFE < square < 1 / SAFE:  # terms that underflow are below its last place
            return math.sqrt(square * (1 + gamma(vector.size))) * (1 + 8 * UNIT)
    largest = float(np.abs(vector).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return largest
    return largest * math.sqrt(upper_sum((vector / largest) ** 2)) * (1 + 8 * UNIT)


def frobenius(matrix: np.ndarray) -> float:
    """Return the Euclidean norm of all entries in plain floats; ``np.linalg.norm`` takes several times as long for few of them."""
    return math.sqrt(np.vdot(matrix, matrix))


def row_lengths(matrix: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of the rows in plain floats."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def times(X: Any, w: np.ndarray, shift: np.ndarray | None = None) -> Enclosed:
    """Enclose ``(X - 1 shift') w``; only columns with a non-zero weight are read. Sparse columns have no shift."""
    used = np.flatnonzero(w)
    if len(used) == 0:
        return Enclosed(np.zeros(X.shape[0]), np.zeros(X.shape[0]))
    block = X[:, used] if sparse.issparse(X) else None
    mid, rad = np.empty(X.shape[0]), np.empty(X.shape[0])
    bound = gamma(len(used) + 2)
    for rows in row_blocks(X.shape[0]):
        part = block[rows] if block is not None else np.asarray(X[rows][:, used], dtype=np.float64)
        if shift is not None:
            part = part - shift[used]
        mid[rows] = part @ w[used]
        rad[rows] = abs(part) @ np.abs(w[used]) * bound * (1 + 2 * bound)
    return Enclosed(mid, rad)


def transposed_times(X: Any, theta: np.ndarray, shift: np.ndarray | None = None) -> Enclosed:
    """Enclose ``(X - 1 shift')' theta``; if ``sum(theta) = 0``, the shift affects the rounding only."""
    n, d = X.shape
    if sparse.issparse(X):
        longest = int(np.max(np.diff(X.tocsc().indptr), initial=0))
        bound = gamma(longest + 1)
        rad = np.asarray(abs(X).T @ np.abs(theta)).ravel() * bound * (1 + 2 * bound)
        return Enclosed(np.asarray(X.T @ theta).ravel(), rad)
    mid, spread = np.zeros(d), np.zeros(d)
    pieces = row_blocks(n)
    for rows in pieces:
        part = np.asarray(X[rows], dtype=np.float64)
        if shift is not None:
            part = part - shift
        mid += part.T @ theta[rows]
        spread += np.abs(part).T @ np.abs(theta[rows])
    bound = gamma(min(BLOCK, n) + len(pieces) + 3)  # products, sum of blocks, and subtraction of the shift
    return Enclosed(mid, spread * bound * (1 + 2 * bound))
