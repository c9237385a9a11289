r"""Bootstrap draws that do not depend on the order of the rows, and for which an integer weight is a repetition.

Rows are laid out in lexicographic order of (columns, target), each on an interval as long as its weight. A draw is a uniform
point on the whole length; a row is drawn as often as points fall on its interval. Equal rows lie side by side, so whether a row
is repeated three times or has weight three, the same points fall on the same rows.
"""

from __future__ import annotations

import numpy as np


def lexicographic_order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows in the order of their first column, then of the others, then of the target; missing values last."""
    first = np.asarray(X[:, 0], dtype=np.float64)
    order = np.argsort(first, kind="stable")
    values = first[order]
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    tied = np.append(same, False) | np.append(False, same)
    if tied.any():  # only rows that share their first value need the others
        rows = order[tied]
        keys = [y[rows], *(np.asarray(X[rows, j], dtype=np.float64) for j in range(X.shape[1] - 1, -1, -1))]
        order[tied] = rows[np.lexsort(keys)]
    return order


def n_draws(weights: np.ndarray | None, n: int, max_samples) -> int:
    """Number of draws: the total of integer weights, else the number of rows that count; or as ``max_samples`` says."""
    if weights is None:
        total = n
    elif np.all(weights == np.rint(weights)):
        total = int(np.sum(weights))
    else:
        total = int(np.count_nonzero(weights))
    if max_samples is None:
        return total
    if isinstance(max_samples, float | np.floating):
        return max(1, round(total * float(max_samples)))
    return int(max_samples)


class Draws:
    """Draws counts of rows, one seed after the other."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, max_samples=None):
        self.n = len(y)
        self.order = lexicographic_order(X, y)
        self.reached = None if weights is None else np.cumsum(weights[self.order])
        self.count = n_draws(weights, self.n, max_samples)

    def counts(self, seed: int) -> np.ndarray:
        """How often each row is drawn."""
        points = np.random.RandomState(seed).random_sample(self.count)
        if self.reached is None:
            places = (points * self.n).astype(np.int64)
        else:
            places = np.searchsorted(self.reached, points * self.reached[-1], side="right")
        found = np.zeros(self.n, dtype=np.int64)
        found[self.order] = np.bincount(np.minimum(places, self.n - 1), minlength=self.n)
        return found
