r"""Choice of landmarks.

With uniform sampling, rows in sparse regions stay far from the span. Random pivoting draws each landmark with a
probability proportional to its residual given the earlier landmarks, :math:`r(x) = k(x, x) - \|\Pi k(x, \cdot)\|^2`.
This is a partial Cholesky factorization with random pivots.
"""

from __future__ import annotations

import numpy as np

from surefit.kernels import Kernel

POOL = 20_000  # rows from which pivots are drawn
NOTHING_LEFT = 1e-12  # fraction of the initial sum of residuals below which rounding dominates


def choose(kernel: Kernel, A, rows: np.ndarray, count: int, how: str, draws: np.random.RandomState) -> np.ndarray:
    """Return ``count`` of ``rows`` in ascending order, or all of them if there are no more."""
    pool = rows[drawn(len(rows), count, how, draws)]
    return pool if len(pool) <= count else pool[pivots(kernel.rows(A).take(pool), count, draws)]


def drawn(total: int, count: int, how: str, draws: np.random.RandomState) -> np.ndarray:
    """Return the rows, in ascending order, that are the landmarks, or among which pivots are drawn if they are more than ``count``."""
    if total <= count:
        return np.arange(total)
    return np.sort(draws.permutation(total)[: count if how == "uniform" else max(POOL, 2 * count)])


def pivots(rows, count: int, draws: np.random.RandomState) -> np.ndarray:
    """Return at most ``count`` random pivots, in ascending order."""
    left = rows.diagonal.copy()
    least = NOTHING_LEFT * float(left.sum())
    F, chosen = np.empty((count, rows.n)), np.zeros(count, dtype=np.intp)  # the rows of F are columns of the factor
    for k in range(count):
        sums = np.cumsum(left)
        if not sums[-1] > least:
            return np.sort(chosen[: max(k, 1)])
        pivot = int(np.searchsorted(sums, draws.uniform() * sums[-1], side="right"))
        chosen[k] = pivot = min(pivot, rows.n - 1)
        F[k] = rows.block([pivot])[0] - F[:k, pivot] @ F[:k]
        F[k] /= np.sqrt(left[pivot])
        left = np.maximum(left - F[k] ** 2, 0.0)
        left[pivot] = 0.0
    return np.sort(chosen)
