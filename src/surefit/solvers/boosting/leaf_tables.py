"""Scores of many binned rows without a descent: the leaf of a row is the intersection of one set of leaves per column.

For a tree with at most 32 leaves, ``sets[j, code, t]`` contains the leaves of tree t that a row can reach if column j has this code: each
node that compares column j removes the leaves on its other side. The intersection over all columns is the row's leaf, as in QuickScorer
(Lucchese et al., 2015). Neighboring trees are intersected by the same instruction, and there is no branch to mispredict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.binning import PACK
from surefit.solvers.boosting.grower import goes_left

MOST_LEAVES = 32  # bits of a set
MOST_COLUMNS = 128  # compared by a group of trees; with more, a descent takes less time
MANY_ROWS = 200  # from which tables take less time than descents, the tables included
MANY_TREES = 8
GROUP = 64  # trees per table: 64 kB per column
ALIGNED = 16  # trees intersected by one instruction
SPREAD = np.uint64(0x077CB531)  # de Bruijn sequence: its product with a power of two tells which one
SHIFT, LOW_BITS = np.uint64(27), np.uint64(31)
CODE, BYTE = np.uint32(255), np.uint32(8)


class LeafTables(NamedTuple):
    """Tables of a group of trees."""

    words: np.ndarray  # indices of the words whose columns the trees compare
    sets: np.ndarray  # (columns of these words, 256 codes, trees)
    values: np.ndarray  # (trees, 32): value of each leaf, at the position that its bit has by :func:`position`


def tables_of(trees: list[Any], n_rows: int) -> list[LeafTables] | None:
    """Return tables of groups of trees, in their order, or None if descents through the trees take less time."""
    if n_rows < MANY_ROWS or len(trees) < MANY_TREES or any(len(tree.feature) >= 2 * MOST_LEAVES for tree in trees):
        return None
    found = []
    for start in range(0, len(trees), GROUP):
        group = trees[start : start + GROUP]
        compared = np.unique(np.maximum(np.concatenate([tree.feature for tree in group]), 0) // PACK)
        if PACK * len(compared) > MOST_COLUMNS:
            return None
        found.append(_tables(group, compared.astype(np.int64)))
    return found


def _tables(trees: list[Any], words: np.ndarray) -> LeafTables:
    line = np.zeros(words[-1] + 1, dtype=np.int64)
    line[words] = np.arange(len(words))
    sets = np.zeros((PACK * len(words), 256, -(-len(trees) // ALIGNED) * ALIGNED), dtype=np.uint32)
    values = np.zeros((len(trees), MOST_LEAVES))
    for t, tree in enumerate(trees):
        _write(tree, line, sets, t, values[t])
    return LeafTables(words, sets, values)


@compiled
def position(leaf):
    """Return the position, from 0 to 31, of a set with one leaf; sets with different leaves have different positions."""
    return ((np.uint64(leaf) * SPREAD) >> SHIFT) & LOW_BITS


@compiled
def _write(tree, line, sets, t, values):
    """Write the sets and values of tree ``t``; ``line`` gives the place of each word in the table."""
    below, count = np.zeros(len(tree.feature), dtype=np.uint32), 0  # leaves below each node
    for node in range(len(tree.feature) - 1, -1, -1):  # children have larger indices than their parent
        if tree.feature[node] < 0:
            below[node] = np.uint32(1 << count)
            values[position(below[node])] = tree.value[node]
            count += 1
        else:
            below[node] = below[tree.left[node]] | below[tree.right[node]]
    own = np.empty((sets.shape[0], 256), dtype=np.uint32)
    for j in range(len(own)):
        for code in range(256):
            own[j, code] = below[0]
    for node in range(len(tree.feature)):
        if tree.feature[node] >= 0:
            column = own[4 * line[tree.feature[node] >> 2] + (tree.feature[node] & 3)]
            for code in range(256):
                other = tree.right[node] if goes_left(tree, node, code) else tree.left[node]
                column[code] &= ~below[other]
    for j in range(len(own)):
        for code in range(256):
            sets[j, code, t] = own[j, code]


@compiled
def add_from_tables(words, tables, start, stop, z):
    """Add the values of the rows' leaves to the scores of rows ``start`` to ``stop - 1``, in the order of the trees."""
    reached = np.empty(tables.sets.shape[2], dtype=np.uint32)
    for i in range(start, stop):
        for k in range(len(tables.words)):
            word = words[tables.words[k], i]
            a = tables.sets[4 * k, word & CODE]
            b = tables.sets[4 * k + 1, (word >> BYTE) & CODE]
            c = tables.sets[4 * k + 2, (word >> np.uint32(16)) & CODE]
            d = tables.sets[4 * k + 3, (word >> np.uint32(24)) & CODE]
            if k == 0:
                for t in range(len(reached)):
                    reached[t] = a[t] & b[t] & c[t] & d[t]
            else:
                for t in range(len(reached)):
                    reached[t] &= a[t] & b[t] & c[t] & d[t]
        total = z[i]
        for t in range(len(tables.values)):
            total += tables.values[t, position(reached[t])]
        z[i] = total
