r"""Bounds on eigenvalues that do not depend on the eigenvalue routine, and products of centered rows.

If :math:`M = V \Lambda V^\top + R` for any matrix :math:`V`, then by Weyl and Ostrowski every eigenvalue of the
symmetric :math:`M` is within :math:`\|R\|_F + (\|V^\top V - I\|_F) \max|\Lambda|` of the matching entry of
:math:`\Lambda`. Computed vectors are the witness; only the residual, whose rounding is bounded, enters the proof
(theory: ``eigen-residual``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import frobenius, gamma
from surefit.core.partitioned import Part, count_parts, over_rows


class Spectrum(NamedTuple):
    """All eigenvalues of a symmetric matrix in descending order, each within ``radius`` of the true value."""

    values: np.ndarray
    vectors: np.ndarray
    radius: float

    def largest_sum(self, count: int) -> tuple[float, float]:
        """Return the sum of the ``count`` largest eigenvalues and its radius."""
        return float(np.sum(self.values[:count])), count * self.radius + gamma(count + 1) * float(
            np.sum(np.abs(self.values[:count]))
        )


def spectrum(M: np.ndarray, radius: float = 0.0) -> Spectrum:
    """Enclose the eigenvalues of a symmetric matrix that is known up to ``radius`` in the Frobenius norm."""
    n = len(M)
    if n == 0:
        return Spectrum(np.zeros(0), np.zeros((0, 0)), radius)
    values, V = np.linalg.eigh(M)
    size = float(np.abs(values).max())
    bound = gamma(3 * n + 8)
    residual = frobenius(M - (V * values) @ V.T) + bound * (frobenius(M) + n * size)
    defect = frobenius(V.T @ V - np.eye(n)) + bound * n
    total = (residual + defect * size + radius) * (1 + gamma(8))
    return Spectrum(values[::-1], V[:, ::-1], total)


def centered_product(X: Any, weights: np.ndarray | None, shift: np.ndarray, by_rows: bool) -> tuple[np.ndarray, float]:
    r"""Return :math:`B^\top B` (``by_rows``: :math:`BB^\top`) and its radius; rows of B are :math:`\sqrt{w_i}(x_i - shift)`."""
    n, d = X.shape
    root = None if weights is None else np.sqrt(weights)[:, None]
    if by_rows:
        B = dense(X) - shift
        B = B if root is None else root * B
        product, depth = B @ B.T, d
    else:
        product, rows = np.zeros((d, d)), rows_at_once(d)
        for start in range(0, n, rows):
            piece = slice(start, min(start + rows, n))
            B = dense(X[piece]) - shift
            B = B if root is None else root[piece] * B
            product += B.T @ B
        depth = min(rows, n) + n // rows
    # The entrywise error is gamma times |B|'|B|, whose Frobenius norm is at most its trace, that of the product.
    return product, gamma(depth + 8) * float(np.trace(product)) * (1 + gamma(8))


def product_over_rows(X: Any, weights: Any, shift: np.ndarray, by_rows: bool) -> tuple[np.ndarray, float]:
    """Return :func:`centered_product` of rows in memory or in partitions; partitions need ``by_rows=False``."""
    product, radius = over_rows(X, weights, _product, shift, by_rows)
    joined = gamma(count_parts(X) - 1) * float(np.trace(product)) * (1 + gamma(8))  # sum over partitions
    return product, radius + joined


def _product(part: Part, shift: np.ndarray, by_rows: bool) -> tuple[np.ndarray, float]:
    return centered_product(part.X, part.weights, shift, by_rows)


def dense(X: Any) -> np.ndarray:
    """Return the rows as a dense float64 array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def rows_at_once(d: int) -> int:
    """Return the number of rows per block whose dense form needs moderate memory."""
    return max(1, min(4096, 2**22 // max(d, 1)))


def weights_of(data: Any) -> np.ndarray:
    """Return the sample weights, or ones if there are none."""
    return np.ones(data.X.shape[0]) if data.weights is None else data.weights


def weighted_mean(X: Any, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of the rows; callers treat it as a given shift, so its rounding does not matter."""
    n = X.shape[0]
    sums, total = (np.ones(n) @ X, float(n)) if weights is None else (weights @ X, math.fsum(weights))
    return np.asarray(sums, dtype=np.float64).ravel() / total
