"""Rows of a Gaussian Gram matrix for the working-set solver, by matrix products whose tiles stay in the processor's cache."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from surefit.core.threads import map_blocks, tree_sum

PIECE = 4 << 20  # bytes per call of the kernel: blocks of this size stay in the cache and are reused
SHARES = 16  # parts of a product with all rows, for threads
COLUMNS = 2500  # columns of a tile
ROWS = 125  # rows of a tile in float64


def share_of(rows: int, step: int) -> int:
    """Return the number of rows per part: a multiple of ``step``, the number of rows computed at a time."""
    return step * max(1, -(-rows // (SHARES * step)))


class GaussianRows:
    r"""Gaussian rows by one product: :math:`\langle (x, -|x|^2/2, 1), (x', 1, -|x'|^2/2) \rangle = -|x - x'|^2 / 2`.

    Two additional columns are cheaper than another pass over the result. Entries may exceed one by rounding, which does
    not affect the solver.

    Parameters
    ----------
    extended : ndarray of shape (n, d + 2)
        Centered rows in units of the length scale, then a one and minus half the squared norm.
    """

    def __init__(self, extended: np.ndarray):
        self.extended = extended
        self.n, self.diagonal = len(extended), np.ones(len(extended))

    @cached_property
    def columns(self) -> np.ndarray:
        """The extended rows by columns: a product with them is faster."""
        return np.ascontiguousarray(self.extended.T)

    def block(self, indices) -> np.ndarray:
        """Return the rows ``indices``."""
        values = _exponents(_left(self.extended[indices]), self.columns, indices)
        return np.exp(values, out=values)

    def fill(self, rows: np.ndarray, indices: np.ndarray, slots: np.ndarray, start: int, stop: int) -> None:
        """Write the columns from ``start`` to ``stop`` of the rows ``indices`` to ``rows[slots]``; slots increase."""
        values = _exponents(_left(self.extended[indices]), self.columns[:, start:stop], indices - start)
        ends = [0, *(np.flatnonzero(np.diff(slots) != 1) + 1), len(slots)]
        for a, b in pairwise(ends):  # consecutive slots are one array
            np.exp(values[a:b], out=rows[slots[a] : slots[a] + b - a, start:stop])

    def times(self, beta: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return ``K beta``; values between two rows with non-zero weights are computed once."""
        support = np.flatnonzero(beta)
        order = np.concatenate([support, np.flatnonzero(beta == 0.0)])
        rows, weights, s = self.extended[order], beta[support], len(support)
        columns = np.ascontiguousarray(rows.T)

        def add(first, last):
            sums = np.zeros(self.n)
            for start in range(first, last, ROWS):
                stop = min(start + ROWS, last)
                left = _left(rows[start:stop].copy())
                for low in range(start, self.n, COLUMNS):
                    high = min(low + COLUMNS, self.n)
                    values = _exponents(left, columns[:, low:high], np.arange(start, stop) - low)
                    np.exp(values, out=values)
                    sums[low:high] += weights[start:stop] @ values
                    a, b = max(stop, low), min(s, high)
                    if a < b:
                        sums[start:stop] += values[:, a - low : b - low] @ weights[a:b]
            return sums

        scores = np.zeros(self.n)
        scores[order] = tree_sum(map_blocks(add, s, share_of(s, ROWS), n_jobs))
        return scores

    def among(self, indices: np.ndarray) -> np.ndarray:
        """Return the values among some elements in float64."""
        rows = self.extended[indices]
        values = _exponents(_left(rows.copy()), rows.T, np.arange(len(rows)))
        return np.exp(values, out=values).astype(np.float64)

    def take(self, indices) -> GaussianRows:
        """Return the prepared rows of some of the elements."""
        return GaussianRows(self.extended[indices])


def _left(rows: np.ndarray) -> np.ndarray:
    """Exchange the last two columns of rows, in place, so that products with other rows are exponents."""
    rows[:, -2], rows[:, -1] = rows[:, -1].copy(), 1.0
    return rows


def _exponents(left: np.ndarray, columns: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return the exponents between rows ``left`` and ``columns``; ``diagonal`` is the column of each row itself, if it is there."""
    with np.errstate(invalid="ignore"):  # BLAS may read beyond short rows and raise flags
        values = left @ columns
    own = np.flatnonzero((diagonal >= 0) & (diagonal < values.shape[1]))
    values[own, diagonal[own]] = 0.0
    return values
