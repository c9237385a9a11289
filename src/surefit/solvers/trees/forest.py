r"""Forest trees for two classes with Gini impurity, on binned columns without missing values and with integer weights.

A row is one word: its number, its number of draws, and its class. A cell of a histogram is also one word, with the
weight in the high bits and the weight of the second class in the low bits. A single addition therefore adds a row to
the histogram of a column, and sums are exact. Let the left side have weight L, of which p belongs to the second class,
and the right side R and q. The best cut has the largest :math:`p^2 / L + q^2 / R`. The data are stored by rows: one
cache line contains all columns that a node uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.solvers.trees.draws import between
from surefit.solvers.trees.flat import (
    DEPTH,
    FEW_ROWS,
    LEAF,
    NO_CUT,
    PURE,
    SPLIT,
    THRESHOLD,
    UNDEFINED,
    FlatTree,
    ends,
)

FEW = 40  # nodes with fewer rows are sorted instead of counted
TIE = 1e-12
MOST_WEIGHT = 2**31 - 1


def grow_pair(
    by_row, edges, codes, counts, *, max_depth: int, min_samples_split: int, columns, max_features: int, seed: int
):
    """Grow a tree; ``by_row`` (n, d) are bins, ``codes`` 0 or 1, ``counts`` integer weights, ``columns`` the columns that may be cut."""
    rows = np.flatnonzero(counts)
    entries = (counts[rows].astype(np.uint64) << np.uint64(33)) | (codes[rows].astype(np.uint64) << np.uint64(32))
    entries |= rows.astype(np.uint64)
    most = 2 * len(rows) - 1
    whole, real = np.empty((5, most), dtype=np.int32), np.empty((2, most))
    reason, weight = np.empty(most, dtype=np.int8), np.empty((2, most), dtype=np.int64)
    count = _grow(
        by_row, entries, np.asarray(columns, dtype=np.int64), max_features, max_depth, min_samples_split,
        np.uint64(seed), whole, real, reason, weight,
    )  # fmt: skip
    return _flat(count, edges, whole, real, reason, weight)


def _flat(count: int, edges: np.ndarray, whole, real, reason, weight) -> FlatTree:
    feature, cut, left, right, depth = (line[:count].copy() for line in whole)
    leaf = feature < 0
    threshold = np.where(leaf, UNDEFINED, edges[np.maximum(feature, 0), np.maximum(cut, 0)])
    W, P = weight[0, :count].astype(np.float64), weight[1, :count].astype(np.float64)
    share = P / W
    more_left = np.zeros(count, dtype=bool)
    inner = np.flatnonzero(~leaf)
    n_rows = real[1, :count].astype(np.int64)
    more_left[inner] = 2 * n_rows[left[inner]] > n_rows[inner]
    none = np.full(count, -1, dtype=np.int32)
    return FlatTree(
        np.where(leaf, LEAF, THRESHOLD).astype(np.int8),
        feature,
        threshold,
        left,
        right,
        more_left,
        none,
        np.empty(0, dtype=np.uint64),
        np.empty(0, dtype=np.int32),
        np.column_stack([1.0 - share, share]),
        2 * share * (1 - share),
        real[0, :count].copy(),
        W,
        n_rows,
        depth,
        reason[:count].copy(),
        ends(left, right),
        1,
    )


@compiled
def _next_random(state, bound):
    """Return the next state of splitmix64, and a random number below ``bound``."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, np.int64((z >> np.uint64(11)) * (bound / 9007199254740992.0))


@compiled
def _grow(by_row, entries, columns, max_features, max_depth, min_split, state, whole, real, reason, weight):
    feature, cut, left, right, depth = whole[0], whole[1], whole[2], whole[3], whole[4]
    gain, n_rows = real[0], real[1]
    slack = np.empty(len(entries), dtype=np.uint64)
    waiting = np.empty(
        (len(entries) + 1, 4), dtype=np.int64
    )  # first, last, parent (times two, plus one on the right), depth
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, len(entries), -1, 0
    top, count = 1, 0
    drawn = columns.copy()
    cells = np.zeros((max_features, 256), dtype=np.uint64)
    low_word = np.uint64(0xFFFFFFFF)
    while top > 0:
        top -= 1
        first, last, parent, level = waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3]
        node = count
        count += 1
        if parent >= 0:
            if parent & 1:
                right[parent >> 1] = node
            else:
                left[parent >> 1] = node
        total = np.uint64(0)
        for k in range(first, last):
            total += _cell(entries[k])
        W, P = np.int64(total >> np.uint64(32)), np.int64(total & low_word)
        feature[node], cut[node], left[node], right[node], depth[node] = -2, -1, -1, -1, level
        gain[node], n_rows[node], weight[0, node], weight[1, node] = 0.0, last - first, W, P
        if P == 0 or P == W:
            reason[node] = PURE
            continue
        if level >= max_depth:
            reason[node] = DEPTH
            continue
        if last - first < min_split:
            reason[node] = FEW_ROWS
            continue
        state, j, b, score = _search(by_row, entries[first:last], drawn, cells, state, W, P)
        if j < 0:
            reason[node] = NO_CUT
            continue
        # Impurity minus the mean impurity of the children, from 2 p (1 - p) = 2 (p - p^2).
        reason[node], feature[node] = SPLIT, j
        gain[node] = max(2.0 * (score - P * P / W) / W, 0.0)
        middle, behind = first, 0
        lowest: Any = np.int64(255)
        for k in range(first, last):
            entry = entries[k]
            code = np.int64(by_row[entry & low_word, j])
            goes_left = code <= b
            lowest = min(lowest, 255 if goes_left else code)
            entries[middle] = entry
            slack[behind] = entry
            middle += goes_left
            behind += not goes_left
        copy_into(entries[middle:last], slack[:behind])
        cut[node] = between(b, lowest)
        waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3] = middle, last, 2 * node + 1, level + 1
        waiting[top + 1, 0], waiting[top + 1, 1] = first, middle
        waiting[top + 1, 2], waiting[top + 1, 3] = 2 * node, level + 1
        top += 2
    return count


@compiled
def _cell(entry):
    """Return the contribution of a row to a cell: its weight, and in the low bits its weight in the second class."""
    times = entry >> np.uint64(33)
    second = np.uint64(0) - ((entry >> np.uint64(32)) & np.uint64(1))  # all bits, or none
    return (times << np.uint64(32)) + (times & second)


@compiled
def _search(by_row, entries, drawn, cells, state, W, P):
    """Draw columns until enough are not constant; return the state, the best column and bin (-1: none) and its score."""
    d, wanted = len(drawn), len(cells)
    best, best_j, best_b, taken, useful = -1.0, -1, -1, 0, 0
    while taken < d and useful < wanted:
        batch = min(wanted - useful, d - taken)
        for k in range(taken, taken + batch):
            state, other = _next_random(state, d - k)
            drawn[k], drawn[k + other] = drawn[k + other], drawn[k]
        chosen = drawn[taken : taken + batch]
        taken += batch
        if len(entries) >= FEW:
            _count(by_row, entries, chosen, cells)
        for c in range(batch):
            j = chosen[c]
            if len(entries) >= FEW:
                score, b, varies = _scan_cells(cells[c], W, P)
            else:
                score, b, varies = _scan_sorted(by_row, entries, j, W, P)
            useful += varies
            room = TIE * W
            if score > best + room or (score >= best - room and varies and j < best_j):  # ties go to the lowest column
                best, best_j, best_b = score, j, b
    return state, best_j, best_b, best


@compiled
def _count(by_row, entries, chosen, cells):
    low_word = np.uint64(0xFFFFFFFF)
    if len(chosen) == 5:  # the square root of 25 to 35 columns: five independent additions
        a, b, c, d, e = chosen[0], chosen[1], chosen[2], chosen[3], chosen[4]
        h0, h1, h2, h3, h4 = cells[0], cells[1], cells[2], cells[3], cells[4]
        for k in range(len(entries)):
            value, row = _cell(entries[k]), entries[k] & low_word
            h0[by_row[row, a]] += value
            h1[by_row[row, b]] += value
            h2[by_row[row, c]] += value
            h3[by_row[row, d]] += value
            h4[by_row[row, e]] += value
        return
    for k in range(len(entries)):
        value, row = _cell(entries[k]), entries[k] & low_word
        for c in range(len(chosen)):
            cells[c, by_row[row, chosen[c]]] += value


@compiled
def _scan_cells(cells, W, P):
    """Return the best cut of a histogram, which is cleared; ties go to the lowest bin."""
    left, best, at, seen = np.uint64(0), -1.0, -1, 0
    room = TIE * W
    total = (np.uint64(W) << np.uint64(32)) + np.uint64(P)
    for b in range(256):
        cell = cells[b]
        if cell == 0:
            continue
        cells[b] = 0
        seen += 1
        left += cell
        if left == total:
            for rest in range(b + 1, 256):
                cells[rest] = 0
            break
        L, p = float(left >> np.uint64(32)), float(left & np.uint64(0xFFFFFFFF))
        R, q = W - L, P - p
        score = (p * p * R + q * q * L) / (L * R)
        if score > best + room:
            best, at = score, b
    return best, at, seen > 1


@compiled
def _scan_sorted(by_row, entries, j, W, P):
    """Return the best cut of few rows, sorted by their bins; ties go to the lowest bin."""
    n = len(entries)
    bins, values = np.empty(FEW, dtype=np.uint8), np.empty(FEW, dtype=np.uint64)
    for i in range(n):
        b = by_row[entries[i] & np.uint64(0xFFFFFFFF), j]
        place = i
        while place > 0 and bins[place - 1] > b:
            bins[place], values[place] = bins[place - 1], values[place - 1]
            place -= 1
        bins[place], values[place] = b, _cell(entries[i])
    if bins[0] == bins[n - 1]:
        return -1.0, -1, False
    left, best, at = np.uint64(0), -1.0, -1
    room = TIE * W
    for i in range(n - 1):
        left += values[i]
        if bins[i] == bins[i + 1]:
            continue
        L, p = float(left >> np.uint64(32)), float(left & np.uint64(0xFFFFFFFF))
        R, q = W - L, P - p
        score = (p * p * R + q * q * L) / (L * R)
        if score > best + room:
            best, at = score, int(bins[i])
    return best, at, True
