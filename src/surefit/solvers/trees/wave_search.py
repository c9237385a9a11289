"""Search for the best splits of all nodes of a wave, from the nonempty cells of their histograms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import ascending
from surefit.solvers.trees.draws import last_code
from surefit.solvers.trees.histograms import best_bin
from surefit.solvers.trees.targets import Limits


class Units(NamedTuple):
    """Conversion of integers to amounts: ``scale * (2**30 * first + second)``, or the integer itself if there are no scales."""

    scales: np.ndarray
    n_classes: int  # 0 for real targets


class Searched(NamedTuple):
    """Requesting nodes: number of rows, weight, sums of the target, tolerance of ties, and bounds on the values."""

    n: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    tie: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Splits(NamedTuple):
    """Best split of each requesting node."""

    column: np.ndarray  # -1: no cut is allowed
    code: np.ndarray  # values with this code or a smaller one go left
    following: np.ndarray  # the next code that occurs; -1 if only missing values go right
    missing: np.ndarray  # whether some row of the node has a missing value in the column
    missing_left: np.ndarray
    decrease: np.ndarray
    left: np.ndarray  # integer sums over the rows that go left
    useful: np.ndarray  # number of columns that were compared
    varied: np.ndarray  # whether each requested column has at least two distinct codes


@compiled
def search(target, units, counted, asked, nodes, rules):
    """Return the best split of each node among the first requested columns that are not constant."""
    keys, cells = counted
    starts, columns, shares, edges = asked
    wanted = rules[2]
    q, width = len(starts) - 1, cells.shape[1]
    column, code, following = np.full(q, -1), np.full(q, -1), np.full(q, -1)
    missing = np.zeros(q, dtype=np.bool_)
    missing_left, decrease, useful = np.zeros(q, dtype=np.bool_), np.full(q, -math.inf), np.zeros(q, dtype=np.int64)
    left, varied = np.zeros((q, width), dtype=np.int64), np.zeros(len(columns), dtype=np.bool_)
    first = np.searchsorted(keys, 256 * np.arange(len(columns) + 1))
    bins = np.zeros((256, 3 if units.n_classes <= 2 else 2 + units.n_classes))
    for p in range(q):
        chosen = np.empty(starts[p + 1] - starts[p])
        places = np.empty(len(chosen), dtype=np.int64)
        for c in range(starts[p], starts[p + 1]):
            varied[c] = first[c + 1] - first[c] > 1
            if varied[c] and useful[p] < wanted:
                chosen[useful[p]], places[useful[p]] = columns[c], c
                useful[p] += 1
        best, at, place = -math.inf, -1, np.int64(0)
        for k in ascending(chosen[: useful[p]]):  # ties go to the lowest column
            c = places[k]
            own = slice(first[c], first[c + 1])
            _fill(units, keys[own], cells[own], bins)
            found = best_bin(
                target,
                bins,
                nodes.n[p],
                nodes.weight[p],
                nodes.sums[p],
                _limits(nodes, rules, p, columns[c], shares[c], edges[columns[c]], bins),
            )
            if found.place > 0 and found.decrease > best + nodes.tie[p]:
                best, at, place, missing_left[p] = found.decrease, c, found.place, found.missing_left
            for i in range(first[c], first[c + 1]):
                bins[keys[i] & 255] = 0.0
        if at >= 0:
            column[p], decrease[p], missing[p] = columns[at], best, (keys[first[at + 1] - 1] & 255) == 255
            own = slice(first[at], first[at + 1])
            code[p], following[p] = _cut(keys[own], cells[own], place, missing_left[p], left[p])
    return Splits(column, code, following, missing, missing_left, decrease, left, useful, varied)


@compiled
def _limits(nodes, rules, p, column, share, edges, bins):
    """Return the constraints on a cut of a column; a ``share`` >= 0 allows one cut, at that fraction of the range of the bins."""
    min_rows, min_weight, _, monotone = rules
    only: Any = np.int64(-1)
    if share >= 0.0:
        only = _random_place(bins, share, edges)
    return Limits(min_rows, min_weight, nodes.tie[p], only, np.int64(monotone[column]), nodes.low[p], nodes.high[p])


@compiled
def _fill(units, keys, cells, bins):
    """Write the number of rows, the weight and the sums of each code into ``bins``."""
    k = len(units.scales)
    for i in range(len(keys)):
        line = bins[keys[i] & 255]
        line[0] = cells[i, 0]
        if units.n_classes == 0:
            line[1], line[2] = _amount(units, cells[i], 0, k), _amount(units, cells[i], 1, k)
            continue
        line[1] = 0.0
        for j in range(units.n_classes):
            own = _amount(units, cells[i], j, k)
            line[1] += own
            if units.n_classes > 2:
                line[2 + j] = own
            else:
                line[2] = own  # the amount of the second class remains


@compiled
def _amount(units, cells, j, k):
    if k == 0:
        return float(cells[1 + j])
    return (float(cells[1 + j]) * 1073741824.0 + float(cells[1 + k + j])) * units.scales[j]


@compiled
def _random_place(line, share, edges):
    """Return the number of rows left of a cut at a fraction of the range of the bins."""
    low: Any = np.int64(255)
    high: Any = np.int64(0)
    place = 0.0
    for code in range(255):
        if line[code, 0] > 0.0:
            low, high = min(low, code), max(high, code)
    last = last_code(edges, low, high, share)
    for code in range(last + 1):
        place += line[code, 0]
    return np.int64(place)


@compiled
def _cut(keys, cells, place, missing_left, left):
    """Sum the rows that go left, of which ``place`` have a value; return the last code on the left and the next code."""
    rows, code, following = 0, -1, -1
    for i in range(len(keys)):
        own = keys[i] & 255
        if own == 255:
            if missing_left:
                left += cells[i]
        elif rows < place:
            rows, code = rows + cells[i, 0], own
            left += cells[i]
        elif following < 0:
            following = own
    return code, following
