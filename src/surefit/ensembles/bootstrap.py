r"""Bootstrap draws that do not depend on the order of the rows, and for which an integer weight is a repetition.

Rows are placed in lexicographic order of (columns, target), each on an interval of the length of its weight. A draw is a uniform point on
the whole length; a row is drawn once for each point on its interval. Equal rows are adjacent, so the draws are the same whether a row is
repeated three times or has weight three.
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
    if tied.any():  # only rows with equal first values need the others
        rows = order[tied]
        keys = [y[rows], *(np.asarray(X[rows, j], dtype=np.float64) for j in range(X.shape[1] - 1, -1, -1))]
        order[tied] = rows[np.lexsort(keys)]
    return order


def _sparse_order(X, y: np.ndarray) -> np.ndarray:
    """Return the same order for a sparse table, without making it dense.

    Rows differ first where one of them has an entry. So a row is the word of its entries, in which negative entries come before the end
    of the word, the earlier column first, and positive entries after it, the later column first. Words of ranks are compared as bytes.
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
    letters = (ranks.reshape(-1) + after).astype(">u4")  # the rank n_before is the end of a word
    end = np.array([n_before], dtype=">u4").tobytes()
    targets = np.unique(y, return_inverse=True)[1].astype(">u4")
    starts = table.indptr
    words = [letters[starts[i] : starts[i + 1]].tobytes() + end + targets[i].tobytes() for i in range(table.shape[0])]
    return np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)


class Draws:
    """Draws row counts for a sequence of seeds."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, max_samples=None):
        self.n = len(y)
        self.order = lexicographic_order(X, target_ranks(y))
        self.reached = None if weights is None else np.cumsum(weights[self.order])
        self.count = n_draws(weights, self.n, max_samples)

    def counts(self, seed: int) -> np.ndarray:
        """Return how often each row is drawn."""
        return counts_of(seed, self.count, self.order, self.reached)


def counts_of(seed: int, count: int, order: np.ndarray, reached: np.ndarray | None) -> np.ndarray:
    """Return how often each row is drawn with this seed; ``reached`` contains the ends of intervals, None if all have length one."""
    n, points = len(order), np.random.RandomState(seed).random_sample(count)
    if reached is None:
        places = (points * n).astype(np.int64)
    else:
        places = np.searchsorted(reached, points * reached[-1], side="right")
    found = np.zeros(n, dtype=np.int64)
    found[order] = np.bincount(np.minimum(places, n - 1), minlength=n)
    return found
