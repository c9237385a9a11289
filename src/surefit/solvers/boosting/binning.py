"""Binning of columns: at most 255 bins per column, with cuts at quantiles, and one bin for missing values.

Four columns share a 32-bit word, so one load fetches four codes of a row. The word ``words[g, i]`` contains the codes
of columns 4g to 4g + 3 of row i, the first in the lowest byte.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import count_below
from surefit.core.threads import map_blocks

MISSING = 255  # code of a missing value or an unknown category
SAMPLE = 2**16  # number of evenly spaced rows that determine the cuts
PACK = 4
ROWS = 4096


class Bins(NamedTuple):
    """Cuts of all columns.

    A number belongs to the first bin whose cut is not below it. The code of a category is its position in the sorted
    list of categories.
    """

    cuts: np.ndarray  # (columns, 256), ascending, padded with infinity
    n_bins: np.ndarray  # number of bins of each column for numbers or categories
    categorical: np.ndarray  # bool, one per column
    has_missing: np.ndarray  # bool, one per column


def find_bins(X: np.ndarray, weights: np.ndarray | None, max_bins: int, categorical: np.ndarray, n_jobs: Any) -> Bins:
    """Choose the cuts: between all values if there are few, otherwise at quantiles of the weighted rows."""
    n, d = X.shape
    cuts, n_bins, has_missing = np.full((d, 256), np.inf), np.ones(d, dtype=np.int64), np.zeros(d, dtype=bool)
    stride, missing = -(-n // SAMPLE), bool(np.isnan(np.min(X)))  # the minimum of NaN and numbers is NaN

    def find(start: int, stop: int) -> None:
        block = X[:, start:stop]
        if missing:
            has_missing[start:stop] = np.isnan(block).any(axis=0)
        together = np.ascontiguousarray(block[::stride].T, dtype=np.float64)
        for j, seen in enumerate(together, start):
            s = None if weights is None else weights[::stride]
            if categorical[j]:
                column = block[:, j - start].astype(np.float64)
                found = np.unique(column[~np.isnan(column)])
            else:
                kept = ~np.isnan(seen) if has_missing[j] else slice(None)
                found = _cuts_between(seen[kept], None if s is None else s[kept], max_bins)
            cuts[j, : len(found)] = found
            n_bins[j] = len(found) + (0 if categorical[j] else 1)

    map_blocks(find, d, 8, n_jobs)  # a cache line contains eight neighbors
    return Bins(cuts, np.maximum(n_bins, 1), categorical, has_missing)


def _cuts_between(values: np.ndarray, weights: np.ndarray | None, max_bins: int) -> np.ndarray:
    if len(values) == 0:
        return np.empty(0)
    if weights is None:
        values = np.sort(values)
    else:
        order = np.argsort(values)
        values, weights = values[order], weights[order]
    new = np.empty(len(values), dtype=bool)
    new[0] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    if np.count_nonzero(new) <= max_bins:
        distinct = values[new]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = distinct[:-1] / 2 + distinct[1:] / 2
        return np.where((middle >= distinct[:-1]) & (middle < distinct[1:]), middle, distinct[:-1])
    reached = np.arange(1.0, len(values) + 1) if weights is None else np.cumsum(weights)
    wanted = np.arange(1, max_bins) / max_bins * reached[-1]
    at = np.minimum(np.searchsorted(reached, wanted), len(values) - 2)
    found = np.where(reached[at] == wanted, (values[at] + values[at + 1]) / 2, values[at])
    return np.unique(np.minimum(found, np.finfo(np.float64).max))


def encode(X: np.ndarray, bins: Bins, n_jobs: Any = None) -> np.ndarray:
    """Return the codes of all rows, packed four columns per word: shape (columns / 4, rows)."""
    n, d = X.shape
    words = np.zeros((-(-d // PACK), n), dtype=np.uint32)
    map_blocks(
        lambda start, stop: _encode(X[start:stop], bins.cuts, bins.n_bins, bins.categorical, words[:, start:stop]),
        n,
        ROWS,
        n_jobs,
    )
    return words


@compiled
def _encode(X, cuts, n_bins, categorical, words):
    n, d = X.shape
    for j in range(d):
        line = cuts[j]
        shift = np.uint32(8 * (j % 4))
        for i in range(n):
            x = float(X[i, j])
            low = count_below(line, x)
            if x != x or (categorical[j] and (low >= n_bins[j] or line[low] != x)):
                low = 255
            words[j // 4, i] |= np.uint32(low) << shift


@compiled
def code_at(words, j, row):
    """Return the code of column j of a row."""
    return (words[j >> 2, row] >> np.uint32(8 * (j & 3))) & np.uint32(255)
