r"""Bootstrap draws that do not depend on the order of the rows and treat an integer weight as repetitions of the row.

Rows are placed in lexicographic order of (columns, target), each on an interval whose length is its weight. A draw is a
uniform point on the union of the intervals; a row is drawn once for each point on its interval. Equal rows are
adjacent, so the draws are the same whether a row is repeated three times or has weight three.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.outputs import target_ranks
from surefit.problems.forests import n_draws


def lexicographic_order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the rows sorted by the first column, then the others, then the target; missing values last."""
    if sparse.issparse(X):
        return _sparse_order(X, y)
    first = np.asarray(X[:, 0], dtype=np.float64)
    order = np.argsort(first, kind="stable")
    values = first[order]
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    tied = np.append(same, False) | np.append(False, same)
    if tied.any():  # the other columns matter only for rows with equal first values
        rows = order[tied]
        keys = [y[rows], *(np.asarray(X[rows, j], dtype=np.float64) for j in range(X.shape[1] - 1, -1, -1))]
        order[tied] = rows[np.lexsort(keys)]
    return order


def _sparse_order(X, y: np.ndarray) -> np.ndarray:
    """Return the same order for a sparse table, without making it dense.

    The first column in which two rows differ has an entry in at least one of them, so a row can be encoded as the
    sequence of its entries. In the order of symbols, negative entries (earlier columns first) precede the end marker,
    and positive entries (later columns first) follow it. The sequences of ranks are compared as bytes.
    """
    table = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    values, columns = table.data, table.indices.astype(np.int64)
    after = ~(values < 0)
    _, ranks = np.unique(
        np.column_stack([after, np.where(after, -columns, columns), np.isnan(values), np.nan_to_num(values, nan=0.0)]),
        axis=0,
        return_inverse=True,
    )
    n_before = len(np.unique(ranks[~after]))
    letters = (ranks.reshape(-1) + after).astype(">u4")  # the rank n_before is the end marker
    end = np.array([n_before], dtype=">u4").tobytes()
    targets = np.unique(y, return_inverse=True)[1].astype(">u4")
    starts = table.indptr
    words = [letters[starts[i] : starts[i + 1]].tobytes() + end + targets[i].tobytes() for i in range(table.shape[0])]
    return np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)


class Draws:
    """Bootstrap counts of the rows for given seeds."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, max_samples=None):
        self.n = len(y)
        self.order = lexicographic_order(X, target_ranks(y))
        self.reached = None if weights is None else np.cumsum(weights[self.order])
        self.count = n_draws(weights, self.n, max_samples)

    def counts(self, seed: int) -> np.ndarray:
        """Return the bootstrap count of each row."""
        return counts_of(seed, self.count, self.order, self.reached)


def counts_of(seed: int, count: int, order: np.ndarray, reached: np.ndarray | None) -> np.ndarray:
    """Return the bootstrap count of each row; ``reached`` has the ends of the intervals, or is None for unit lengths."""
    n, points = len(order), np.random.RandomState(seed).random_sample(count)
    if reached is None:
        places = np.multiply(points, n, out=points).astype(np.int64)
    else:
        places = np.searchsorted(reached, points * reached[-1], side="right")
    found = np.zeros(n, dtype=np.int64)
    found[order] = np.bincount(np.minimum(places, n - 1), minlength=n)
    return found
