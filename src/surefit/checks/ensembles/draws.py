"""Recomputation of the draws of forests and bagged models from their seeds, for dense and sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.labels import label_codes, label_table
from surefit.core.certificate import Certificate
from surefit.core.sample import Data


class Draws:
    """Recomputation from a seed of how often each row was drawn."""

    def __init__(self, certificate: Certificate, data: Data):
        self.problem, self.weights, self.n = certificate.problem, data.weights, data.X.shape[0]
        if self.problem["bootstrap"]:
            self.order = _lexicographic(data.X, _ranks(targets(certificate, data)))
            self.ends = None if data.weights is None else np.cumsum(data.weights[self.order])

    def __call__(self, seed: int) -> np.ndarray:
        """Return the weight of each row in the member with this seed."""
        if not self.problem["bootstrap"]:
            return np.ones(self.n) if self.weights is None else self.weights
        points = np.random.RandomState(seed).random_sample(self.problem["draws"])
        if self.ends is None:
            places = np.multiply(points, self.n, out=points).astype(np.int64)
        else:
            places = np.searchsorted(self.ends, points * self.ends[-1], side="right")
        found = np.zeros(self.n)
        found[self.order] = np.bincount(np.minimum(places, self.n - 1), minlength=self.n)
        return found


def _ranks(y: np.ndarray) -> np.ndarray:
    """Return numbers that order rows lexicographically by several targets; a single target is returned unchanged."""
    if y.ndim == 1:
        return y
    order = np.lexsort(y.T[::-1])
    new = np.any(y[order][1:] != y[order][:-1], axis=1)
    ranks = np.empty(len(y), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(new)])
    return ranks


def _lexicographic(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the lexicographic order of the rows by their columns, then by the target."""
    if sparse.issparse(X):
        return _sparse_lexicographic(X.tocsc(), y)
    X = np.asarray(X, dtype=np.float64)
    order = np.argsort(X[:, 0], kind="stable")
    first = X[order, 0]
    same = (first[1:] == first[:-1]) | (np.isnan(first[1:]) & np.isnan(first[:-1]))
    tied = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    rows = order[tied]
    order[tied] = rows[np.lexsort((y[rows], *X[rows].T[::-1]))]
    return order


def _sparse_lexicographic(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the same order for sparse rows by stable sorts from the last column to the first; zeros stay in place."""
    n = len(y)
    place = np.empty(n, dtype=np.int64)
    place[np.argsort(y, kind="stable")] = np.arange(n)
    low, high = 0, n
    for j in range(X.shape[1] - 1, -1, -1):
        column = X[:, [j]].tocoo()
        rows, values = column.row[column.data != 0], column.data[column.data != 0].astype(np.float64)
        order = np.lexsort((place[rows], values))  # missing values last
        rows, below = rows[order], int(np.count_nonzero(values < 0))
        place[rows[:below]] = np.arange(low - below, low)
        place[rows[below:]] = np.arange(high, high + len(rows) - below)
        low, high = low - below, high + len(rows) - below
    return np.argsort(place, kind="stable")


def targets(certificate: Certificate, data: Data) -> np.ndarray:
    """Return class indices or real targets, with one column per output if there are several."""
    if certificate.problem["classes"]:
        return (label_codes if data.target.ndim == 1 else label_table)(certificate, data)[0]
    return np.asarray(data.target, dtype=np.float64)


def outputs(problem: dict[str, Any], y: np.ndarray) -> list[tuple[np.ndarray, int, slice]]:
    """Return each target, its number of classes (0: real) and its columns in the value of a leaf."""
    if y.ndim == 1:
        return [(y, problem["classes"], slice(0, max(problem["classes"], 1)))]
    counts = problem["classes"] or [0] * y.shape[1]
    ends = np.cumsum(np.maximum(counts, 1)).tolist()
    return [(y[:, o], k, slice(ends[o] - max(k, 1), ends[o])) for o, k in enumerate(counts)]
