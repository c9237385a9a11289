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
    if len(rows) <= count:
        return rows
    order = draws.permutation(len(rows))
    if how == "uniform":
        return np.sort(rows[order[:count]])
    pool = np.sort(rows[order[: max(POOL, 2 * count)]])
    return np.sort(pool[_pivots(kernel.rows(A).take(pool), count, draws)])


def _pivots(rows, count: int, draws: np.random.RandomState) -> np.ndarray:
    left = rows.diagonal.copy()
    least = NOTHING_LEFT * float(left.sum())
    F, chosen = np.empty((count, rows.n)), np.zeros(count, dtype=np.intp)  # the rows of F are columns of the factor
    for k in range(count):
        sums = np.cumsum(left)
        if not sums[-1] > least:
            return chosen[: max(k, 1)]
        pivot = int(np.searchsorted(sums, draws.uniform() * sums[-1], side="right"))
        chosen[k] = pivot = min(pivot, rows.n - 1)
        F[k] = rows.block([pivot])[0] - F[:k, pivot] @ F[:k]
        F[k] /= np.sqrt(left[pivot])
        left = np.maximum(left - F[k] ** 2, 0.0)
        left[pivot] = 0.0
    return chosen
