r"""Least squares for rows in partitions: one pass replaces all rows by a triangular factor with the same sums of squares.

With :math:`[\mathbf 1, X, Y] = QR` row-weighted, every sum of squared residuals is a function of :math:`R` alone:
:math:`\|Y - Xw - b\| = \|R_Y - R_X w - R_1 b\|`. The triangular factors of the partitions are merged pairwise by QR
decompositions, in a fixed tree. This is as accurate as a QR decomposition of all rows. Without its first row and
column, :math:`R` is the triangular factor of the centered columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.core.partitioned import Part, PartitionedRows

BLOCK = 16_384  # rows decomposed at a time; at least twice the number of columns


class Compressed(NamedTuple):
    """A few rows that represent all rows: any penalized sum of squares has the same minimizer."""

    X: np.ndarray  # centered if there is an intercept
    Y: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray
    total: float  # weight of all rows

    def intercepts(self, coef: np.ndarray) -> np.ndarray:
        """Return the best intercepts for coefficients with one column per target."""
        return self.y_mean - self.x_mean @ coef


def compress(rows: PartitionedRows, centered: bool) -> Compressed:
    """Compute the triangular factor of all rows in one pass."""
    return from_triangle(rows.map_reduce(triangle, centered, combine=join), rows.shape[1], centered, rows.total_weight)


def from_triangle(R: np.ndarray, d: int, centered: bool, total: float) -> Compressed:
    """Return the rows that a triangular factor represents."""
    if not centered:
        return Compressed(R[:, :d], R[:, d:], np.zeros(d), np.zeros(R.shape[1] - d), total)
    means = R[0, 1:] / R[0, 0]
    return Compressed(R[1:, 1 : d + 1], R[1:, d + 1 :], means[:d], means[d:], total)


def triangle(part: Part, centered: bool, chosen: np.ndarray | None = None) -> np.ndarray:
    """Return the triangular factor of a partition, or of its ``chosen`` rows, padded with rows of zeros."""
    X, y, s = part.X, part.y, part.weights
    if chosen is not None:
        X, y, s = X[chosen], None if y is None else y[chosen], None if s is None else s[chosen]
    Y = np.zeros((len(X), 0))
    if y is not None:
        Y = np.asarray(y, dtype=np.float64) if y.ndim == 2 else np.asarray(y, dtype=np.float64)[:, None]
    width = int(centered) + X.shape[1] + Y.shape[1]
    R = np.zeros((0, width))
    for start in range(0, len(X), max(BLOCK, 2 * width)):
        block = slice(start, start + max(BLOCK, 2 * width))
        ones = np.ones((len(X[block]), int(centered)))
        table = np.hstack([ones, np.asarray(X[block], dtype=np.float64), Y[block]])
        R = _reduced(np.vstack([R, table if s is None else np.sqrt(s[block])[:, None] * table]))
    return np.vstack([R, np.zeros((width - len(R), width))])


def join(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Merge two triangular factors into one."""
    return _reduced(np.vstack([a, b]))


def _reduced(table: np.ndarray) -> np.ndarray:
    return linalg.qr(table, mode="r", overwrite_a=True, check_finite=False)[0][: table.shape[1]]
