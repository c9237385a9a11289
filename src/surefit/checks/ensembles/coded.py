"""Rows as numbers of thresholds: all trees of a forest cut a column at few places, so one byte per entry is enough.

The code of an entry is the number of thresholds of its column below it, over all trees. An entry is at most a threshold
if and only if its code is at most the place of the threshold, so a row takes the same path as with its own values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.ensembles.packed import PackedTree
from surefit.core.jit import compiled
from surefit.core.loops import count_below
from surefit.core.threads import map_blocks

MOST = 254  # thresholds of a column; the code 255 means missing
WIDTH = 2**22  # columns that a word has room for
WORTH = 8  # columns per tree up to which codes take less time to find than they save
ROWS = 8192  # rows in a block of codes
BLOCK = 256  # rows that descend together


class Coded(NamedTuple):
    """Rows by their codes, and the thresholds."""

    codes: np.ndarray  # (n, d) uint8
    cuts: np.ndarray  # (d, 256), ascending, infinite after the last

    def leaves_of(self, rows: np.ndarray, tree: PackedTree) -> np.ndarray:
        """Return the leaf of each of ``rows``."""
        return _leaves(
            self.codes, rows, _words(tree.feature, tree.threshold, tree.left, tree.right, tree.missing_left, self.cuts)
        )


def coded(X: np.ndarray, trees: list[PackedTree], threads: int) -> Coded | None:
    """Return the rows of ``X`` by codes, or None if a column has many thresholds or the trees are few."""
    n, d = X.shape
    if d > WORTH * len(trees) or d >= WIDTH:
        return None
    cuts, counts = np.full((d, 256), np.inf), np.zeros(d, dtype=np.int64)
    if not all(_collect(tree.feature, tree.threshold, cuts, counts) for tree in trees):
        return None
    codes = np.empty((n, d), dtype=np.uint8)
    map_blocks(lambda start, stop: _encode(X[start:stop], cuts, counts, codes[start:stop]), n, ROWS, threads)
    return Coded(codes, cuts)


@compiled
def _collect(feature: Any, threshold: Any, cuts: Any, counts: Any) -> bool:
    """Insert the thresholds of a tree; return False if there are too many or one is not a number."""
    for node in range(len(feature)):
        j, t = feature[node], threshold[node]
        if j < 0:
            continue
        own, count = cuts[j], counts[j]
        place = count_below(own, t)
        if place < count and own[place] == t:
            continue
        if t != t or count == MOST:
            return False
        for k in range(count, place, -1):
            own[k] = own[k - 1]
        own[place] = t
        counts[j] = count + 1
    return True


@compiled
def _encode(X: Any, cuts: Any, counts: Any, codes: Any) -> None:
    for i in range(len(X)):
        for j in range(X.shape[1]):
            x = X[i, j]
            code = count_below(cuts[j], x) if counts[j] > 0 else 0
            codes[i, j] = 255 if x != x else code


@compiled
def _words(feature: Any, threshold: Any, left: Any, right: Any, missing_left: Any, cuts: Any) -> Any:
    """Return the nodes in one word each, with siblings next to each other.

    The high half of a word is the place of the left child, or the node itself if it is a leaf. The low half is the
    column, and one bit for leaves and one for missing values to the left, and the place of the threshold.
    """
    inner = np.empty(len(feature), dtype=np.int64)  # number of inner nodes before each node
    count = 0
    for node in range(len(feature)):
        inner[node] = count
        count += feature[node] >= 0
    nodes, words = np.zeros(2 * count + 1, dtype=np.int64), np.empty(2 * count + 1, dtype=np.uint64)
    for node in range(len(feature)):
        if feature[node] >= 0:
            nodes[2 * inner[node] + 1], nodes[2 * inner[node] + 2] = left[node], right[node]
    for place in range(len(nodes)):
        node = nodes[place]
        j, below = np.int64(feature[node]), 2 * inner[node] + 1
        if j < 0:
            words[place] = (node << 32) | 512
        else:
            cut = count_below(cuts[j], threshold[node])
            words[place] = (below << 32) | (j << 10) | (np.int64(missing_left[node] != 0) << 8) | cut
    return words


@compiled
def _leaves(codes: Any, rows: Any, words: Any) -> Any:
    found = np.zeros(len(rows), dtype=np.int64)
    if len(words) == 1:
        return found
    inside, at = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, len(rows), BLOCK):
        count: Any = min(BLOCK, len(rows) - start)
        for k in range(count):
            inside[k], at[k] = start + k, words[0]
        while count > 0:
            kept = np.uint64(0)
            for k in range(count):  # without unpredictable branches: a child is chosen by arithmetic
                i, word = np.uint64(inside[k]), at[k]
                code = np.uint64(codes[np.uint64(rows[i]), (word & np.uint64(0xFFFFFFFF)) >> np.uint64(10)])
                goes_left = (code <= (word & np.uint64(255))) | ((code == 255) & ((word & np.uint64(256)) != 0))
                child = words[(word >> np.uint64(32)) + np.uint64(not goes_left)]
                found[i] = child >> np.uint64(32)  # of an inner node until the row is at a leaf
                inside[kept], at[kept] = i, child
                kept += np.uint64((child & np.uint64(512)) == 0)
            count = np.int64(kept)
    return found
