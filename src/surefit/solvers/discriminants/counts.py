"""Sufficient statistics of naive Bayes: sums of counts, means and variances of each class, in one pass over the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.core.threads import map_parts, tree_sum
from surefit.solvers.discriminants.moments import Grouped

LEAST = 1024  # rows per part that threads share
PER_CLASS = 8  # rows per class and part, so that a part takes longer than adding its sums to the others


class Spread(NamedTuple):
    """Weight, mean and variance of each column in each class; zeros for a class without rows."""

    totals: np.ndarray  # (k,)
    means: np.ndarray  # (k, d)
    variances: np.ndarray  # (k, d)


class Counts(NamedTuple):
    """Weight of each class and weighted sums of the columns over its rows."""

    totals: np.ndarray  # (k,)
    counts: np.ndarray  # (k, d)


def class_sums(rows: Grouped, X: Any) -> Counts:
    """Return the weight of each class and the weighted sums of the columns of ``X`` over its rows."""
    values = np.ones(len(rows.order)) if rows.weights is None else rows.weights[rows.order]
    members = sparse.csr_array((values, rows.order, rows.ends), shape=(rows.n_classes, X.shape[0]))
    sums = members @ X
    dense = sums.toarray() if sparse.issparse(sums) else sums
    return Counts(np.asarray(members.sum(axis=1), dtype=np.float64), np.asarray(dense, dtype=np.float64))


def class_spread(rows: Grouped) -> Spread:
    """Return means and variances of the classes; rows are shifted by a first estimate of their class mean to avoid cancellation."""
    K, d = rows.n_classes, rows.X.shape[1]
    shifts, weights = np.zeros((K, d)), np.ones(0) if rows.weights is None else rows.weights
    for k in range(K):
        members = rows.members(k)
        if len(members):
            shifts[k] = np.asarray(rows.X[members[:256]], dtype=np.float64).mean(axis=0)
    X = np.ascontiguousarray(rows.X)

    def part(start: int, stop: int) -> np.ndarray:
        found = np.zeros((3, K, d))
        _add_rows(X[start:stop], rows.codes[start:stop], weights[start:stop], shifts, *found)
        return found

    found, sums, squares = tree_sum(map_parts(part, X.shape, max(LEAST, PER_CLASS * K)))
    totals = found[:, 0].copy()
    present = np.where(totals > 0, totals, 1.0)[:, None]
    moves = sums / present
    return Spread(totals, shifts + moves, np.maximum(squares / present - moves * moves, 0.0))


@compiled(relaxed=True)
def _add_rows(X, codes, weights, shifts, total_weight, sums, squares):
    for i in range(len(codes)):
        k, row = codes[i], X[i]
        shift, total, square = shifts[k], sums[k], squares[k]
        weight = 1.0 if len(weights) == 0 else weights[i]
        total_weight[k, 0] += weight
        for j in range(len(row)):
            difference = row[j] - shift[j]
            total[j] += weight * difference
            square[j] += weight * difference * difference


def merged(first: Spread, second: Spread) -> Spread:
    """Merge the statistics of two sets of rows."""
    totals = first.totals + second.totals
    share = np.divide(second.totals, totals, out=np.zeros_like(totals), where=totals > 0)[:, None]
    apart = second.means - first.means
    variances = (1 - share) * first.variances + share * second.variances + share * (1 - share) * apart * apart
    return Spread(totals, first.means + share * apart, variances)


def overall(spread: Spread) -> np.ndarray:
    """Return the variance of each column over the rows of all classes together."""
    whole = Spread(np.zeros(1), np.zeros((1, spread.means.shape[1])), np.zeros((1, spread.means.shape[1])))
    for k in range(len(spread.totals)):
        whole = merged(whole, Spread(*(part[k : k + 1] for part in spread)))
    return whole.variances[0]
