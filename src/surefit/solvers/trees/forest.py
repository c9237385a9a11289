r"""Forest trees for two classes with Gini impurity, on binned columns without missing values and with integer weights.

A row is one word: its number, its number of draws, and its class. The data are stored by rows: one cache line contains
all columns that a node uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled, quietly
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
from surefit.solvers.trees.pair_cells import FEW, HALF, LOW, TIE, add_few, add_rows, cell, scan, scan_few

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
    with quietly(over="ignore", divide="ignore", invalid="ignore"):
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
    table, width = by_row.reshape(-1), np.uint64(by_row.shape[1])
    cells, marks = np.zeros(256 * max_features, dtype=np.uint64), np.zeros(4 * max_features, dtype=np.uint64)
    rows, space = (table, width, entries), (cells, marks, np.empty((4, 256)))
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
            total += cell(entries[k])
        W, P = np.int64(total >> HALF), np.int64(total & LOW)
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
        state, j, b, score = _search(rows, (first, last), drawn, space, state, W, P)
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
            code = np.int64(table[(entry & LOW) * width + np.uint64(j)])
            goes_left = code <= b
            lowest = min(lowest, 255 if goes_left else code)
            entries[middle] = entry
            slack[behind] = entry
            middle += goes_left
            behind += not goes_left
        for k in range(behind):
            entries[middle + k] = slack[k]
        cut[node] = between(b, lowest)
        waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3] = middle, last, 2 * node + 1, level + 1
        waiting[top + 1, 0], waiting[top + 1, 1] = first, middle
        waiting[top + 1, 2], waiting[top + 1, 3] = 2 * node, level + 1
        top += 2
    return count


@compiled
def _search(rows, span, drawn, space, state, W, P):
    """Draw columns until enough are not constant; return the state, the best column and bin (-1: none) and its score."""
    cells, marks, scores = space
    d, wanted, few = len(drawn), len(marks) // 4, span[1] - span[0] < FEW
    best, best_j, best_b, taken, useful = -1.0, -1, -1, 0, 0
    room = TIE * W
    while taken < d and useful < wanted:
        batch = min(wanted - useful, d - taken)
        for k in range(taken, taken + batch):
            state, other = _next_random(state, d - k)
            drawn[k], drawn[k + other] = drawn[k + other], drawn[k]
        if few:
            add_few(rows, span, drawn, taken, batch, cells, marks)
        else:
            add_rows(rows, span, drawn, taken, batch, cells)
        for c in range(batch):
            j = drawn[taken + c]
            score, b = scan_few(cells, marks, scores, c, W, P) if few else scan(cells, scores, c, W, P)
            useful += b >= 0
            if score > best + room or (score >= best - room and b >= 0 and j < best_j):  # ties go to the lowest column
                best, best_j, best_b = score, j, b
        taken += batch
    return state, best_j, best_b, best
