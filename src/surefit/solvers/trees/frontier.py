"""Histograms of the waiting nodes of a growing tree over rows in partitions, and the best split of a histogram."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.cells import Cells
from surefit.solvers.trees.grow import next_random
from surefit.solvers.trees.histograms import best_bin
from surefit.solvers.trees.targets import Limits


class Frontier(NamedTuple):
    """The tree so far, and the index of each node among the requested histograms and target ranges, or -1."""

    feature: np.ndarray
    code: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    histogram: np.ndarray
    range: np.ndarray


def sum_cells(cells: Cells, width: int) -> np.ndarray:
    """Return the sums of the integers of a partition."""
    return cells.cells.sum(axis=0) if len(cells.cells) else np.zeros(width, dtype=np.int64)


def count_rows(cells: Cells, frontier: Frontier) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the requested histograms, and the smallest and largest targets of nodes, over the rows of a partition."""
    d, width = cells.codes.shape[1], cells.cells.shape[1]
    tables = np.zeros((int(frontier.histogram.max()) + 1, d, 256, width), dtype=np.int64)
    size = int(frontier.range.max()) + 1
    low, high = np.full(size, math.inf), np.full(size, -math.inf)
    _count(cells.codes, cells.cells, cells.y, frontier, tables, low, high)
    return tables, low, high


def joined(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Merge the histograms and ranges of two partitions."""
    return a[0] + b[0], np.minimum(a[1], b[1]), np.maximum(a[2], b[2])


@compiled
def _count(codes, cells, y, frontier, tables, low, high):
    feature, code, missing_left, left, right, histogram, ranges = frontier
    for i in range(len(codes)):
        node = 0
        while left[node] >= 0:
            own = codes[i, feature[node]]
            to_left = missing_left[node] if own == 255 else own <= code[node]
            node = left[node] if to_left else right[node]
        place = ranges[node]
        if place >= 0:
            low[place], high[place] = min(low[place], y[i]), max(high[place], y[i])
        place = histogram[node]
        if place >= 0:
            for j in range(codes.shape[1]):
                own_cells = tables[place, j, codes[i, j]]
                for k in range(cells.shape[1]):
                    own_cells[k] += cells[i, k]


@compiled
def best_column(target, bins, n, weight, sums, limits, monotone, rules, stream):
    """Return the column and the decrease of the best cut, and the cut; columns and cuts may be drawn at random."""
    max_features, random_cuts = rules
    random, drawn = stream
    d, useful, taken = len(drawn), 0, 0
    constant = np.zeros(d, dtype=np.bool_)
    for j in range(d):
        count = 0
        for code in range(256):
            count += bins[j, code, 0] > 0.0
        constant[j] = count < 2
    if max_features >= d:
        taken = d
    while taken < d and useful < max_features:
        other = taken + next_random(random, d - taken)
        drawn[taken], drawn[other] = drawn[other], drawn[taken]
        useful += not constant[drawn[taken]]
        taken += 1
    best, column = -math.inf, -1
    cut = best_bin(target, bins[0], n, weight, sums, limits)
    for j in np.sort(drawn[:taken]):
        if constant[j]:
            continue
        only: Any = np.int64(-1)
        if random_cuts:
            only = _random_place(bins[j], next_random(random, 1 << 53) / 9007199254740992.0)
        own = Limits(
            limits.min_rows, limits.min_weight, limits.tie, only, np.int64(monotone[j]), limits.low, limits.high
        )
        found = best_bin(target, bins[j], n, weight, sums, own)
        if found.place > 0 and found.decrease > best + limits.tie:
            best, column, cut = found.decrease, j, found
    return (column, best), cut


@compiled
def _random_place(line, share):
    """Return the number of rows left of a cut at a fraction of the range of the codes."""
    low, high, place = 255, 0, 0.0
    for code in range(255):
        if line[code, 0] > 0.0:
            low, high = min(low, code), max(high, code)
    last = high if low >= high else low + np.int64(share * (high - low))
    for code in range(last + 1):
        place += line[code, 0]
    return np.int64(place)
