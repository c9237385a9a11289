r"""Discriminant axes: whitening of the within-class scatter, then principal axes of the between-class scatter.

With :math:`V^\top W V = I`, the generalized eigenproblem :math:`Bv = \lambda Wv` becomes that of the symmetric matrix
:math:`V^\top B V`. Columns are first scaled to unit variance. If the scaled :math:`W` is well conditioned, its
eigenvalues are used. Otherwise, and with fewer rows than columns, the singular values of the centered rows are used,
which have twice as many correct digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

#: Eigenvalues of a matrix with unit diagonal have an error near 1e-16; above this threshold, they and their vectors have ten digits.
TRUSTED = 1e-6


class Within(NamedTuple):
    """Within-class scatter divided by the total weight, as a matrix or as a product of centered rows."""

    matrix: np.ndarray | None
    rows: np.ndarray | None  # times the square roots of weight / total weight

    @property
    def scale(self) -> np.ndarray:
        """Standard deviations of the columns, one for constant columns."""
        squares = np.diag(self.matrix) if self.matrix is not None else np.sum(self.rows**2, axis=0)  # type: ignore[operator]
        deviations = np.sqrt(np.maximum(squares, 0.0))
        return np.where(deviations > 0, deviations, 1.0)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return ``W V``."""
        return self.matrix @ V if self.matrix is not None else self.rows.T @ (self.rows @ V)  # type: ignore[union-attr]


class Whitening(NamedTuple):
    """Directions in which the within-class scatter is the identity."""

    axes: np.ndarray  # (d, r)
    lowest: float  # smallest kept eigenvalue of the scaled scatter


class Axes(NamedTuple):
    """Solutions of B v = lambda W v, largest lambda first."""

    vectors: np.ndarray  # (d, q), V'WV = I
    values: np.ndarray  # (q,)


def whiten_matrix(W: np.ndarray, scale: np.ndarray) -> Whitening | None:
    """Return the whitening by eigenvalues of the scaled ``W``; None if they are too small to be accurate."""
    values, vectors = np.linalg.eigh(W / scale / scale[:, None])
    if values[0] <= TRUSTED:
        return None
    return Whitening(vectors[:, ::-1] / scale[:, None] / np.sqrt(values[::-1]), float(values[0]))


def whiten_rows(rows: np.ndarray, scale: np.ndarray, tol: float) -> Whitening:
    """Return the whitening by singular values above ``tol`` of the scaled rows."""
    scaled = rows / scale
    if scaled.shape[0] > 2 * scaled.shape[1]:
        scaled = np.linalg.qr(scaled, mode="r")
    _, singular, vectors = linalg.svd(scaled, full_matrices=False, check_finite=False, overwrite_a=True)
    kept = int(np.sum(singular > tol))
    lowest = float(singular[kept - 1]) ** 2 if kept else 0.0
    return Whitening(vectors[:kept].T / scale[:, None] / singular[:kept], lowest)


def between_axes(whitening: Whitening, offsets: np.ndarray, tol: float) -> tuple[Axes, np.ndarray]:
    r"""Return the axes of :math:`B = \sum_k o_k o_k^\top` with singular values above ``tol`` times the largest, and all eigenvalues."""
    _, singular, vectors = linalg.svd(offsets @ whitening.axes, full_matrices=False, check_finite=False)
    kept = int(np.sum(singular > tol * singular[0])) if len(singular) else 0
    return Axes(with_fixed_signs(whitening.axes @ vectors[:kept].T), singular[:kept] ** 2), singular**2


def with_fixed_signs(V: np.ndarray) -> np.ndarray:
    """Return the columns with signs such that the largest entry of each is positive."""
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return V * np.where(largest < 0, -1.0, 1.0)


def solve_refined(W: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """Return :math:`W^{-1}` ``right`` by Cholesky factorization of the scaled W and one step of refinement; None if W is not definite."""
    scale = np.sqrt(np.diag(W)) if np.all(np.diag(W) > 0) else None
    if scale is None:
        return None
    try:
        factor = linalg.cho_factor(W / scale / scale[:, None], lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    if np.min(np.diag(factor[0])) <= 1e-7:  # the squared pivots are below rounding
        return None

    def inverse(v: np.ndarray) -> np.ndarray:
        return linalg.cho_solve(factor, v / scale[:, None], check_finite=False) / scale[:, None]

    first = inverse(right)
    return first + inverse(right - W @ first)
