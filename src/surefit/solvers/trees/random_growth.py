"""Trees with one random cut per column, on binned columns without missing values and categories.

Rows are divided by the drawn bin, so nothing is sorted. The bins are stored by rows, so one cache line contains all
columns of a row. A node waits, with its best cut, until the nodes before it in preorder have been written. The draws,
and therefore the trees, are those of the general grower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees import flat
from surefit.solvers.trees.flat import FlatTree, ends
from surefit.solvers.trees.grow import close_node, open_node, typed
from surefit.solvers.trees.histograms import cut_of_sums, n_bin_sums
from surefit.solvers.trees.nodes import NODE, Rules
from surefit.solvers.trees.random_cuts import LAST, add_left, divide, draw_columns, draw_cuts, write_ranges
from surefit.solvers.trees.targets import TIE, Limits, n_sums


class Work(NamedTuple):
    """Rows and work space of the grower."""

    codes: np.ndarray  # (n, d) uint8, the bins by rows
    edges: np.ndarray  # (d, 254) float64
    rows: np.ndarray  # (m,) uint32, the rows of each node are adjacent; reordered while a tree grows
    buffer: np.ndarray  # (m,) uint32
    state: np.ndarray  # (1,) uint64, state of the random number generator
    columns: (
        np.ndarray
    )  # (2, d) int64: columns, those drawn first and in ascending order, and their places in ``drawn``
    bins: np.ndarray  # (3, d) uint8, of the columns drawn
    drawn: np.ndarray  # (m, d) uint8, copies of the columns drawn at a node
    places: np.ndarray  # (m,) uint32: 0, 1, ...
    left: np.ndarray  # (sums, d) float64: the sums of the rows on the left of each cut, as in a bin of a histogram
    waiting: Any  # nodes that are not written yet
    held: np.ndarray  # (nodes, sums) float64, their sums


class Written(NamedTuple):
    """Finished nodes in preorder, as in ``FlatTree``."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    sums: np.ndarray  # (nodes, sums)
    spread: np.ndarray  # total impurity
    decrease: np.ndarray  # of the total
    weight: np.ndarray
    n_rows: np.ndarray
    depth: np.ndarray
    reason: np.ndarray


def grow_by_rows(by_row: np.ndarray, edges: np.ndarray, target, rules: Rules, rows=None) -> FlatTree:
    """Grow a tree on ``rows`` of the bins ``by_row`` (n, d), without limits on the number of leaves and on directions."""
    n, d = by_row.shape
    rows = np.arange(n, dtype=np.uint32) if rows is None else np.array(rows, dtype=np.uint32)
    leaves = max(len(rows) // rules.min_samples_leaf, 1)
    if rules.max_depth < 31:
        leaves = min(leaves, 2**rules.max_depth)
    every = rules.max_features >= d
    work = Work(
        by_row,
        edges,
        rows,
        np.empty(len(rows), dtype=np.uint32),
        np.array([rules.seed], dtype=np.uint64),
        np.array([np.arange(d), np.arange(d)]),
        np.zeros((3, d), dtype=np.uint8),
        np.empty((0 if every else len(rows), d), dtype=np.uint8),
        np.arange(0 if every else len(rows), dtype=np.uint32),
        np.empty((n_bin_sums(target), d)),
        np.recarray(leaves + 1, dtype=NODE),
        np.empty((leaves + 1, n_sums(target))),
    )
    written = _room(2 * leaves - 1, n_sums(target))
    count = _grow(work, target, typed(rules), written)
    return _flat(Written(*(part[:count].copy() for part in written)))


def _room(m: int, k: int) -> Written:
    ints, floats = (np.empty(m, dtype=np.int32) for _ in range(4)), (np.empty(m) for _ in range(4))
    feature, left, right, depth = ints
    threshold, spread, decrease, weight = floats
    sums, n_rows = np.empty((m, k)), np.empty(m, dtype=np.int64)
    goes, reason = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.int8)
    return Written(feature, threshold, left, right, goes, sums, spread, decrease, weight, n_rows, depth, reason)


def _flat(nodes: Written) -> FlatTree:
    weight = nodes.weight
    return FlatTree(
        np.where(nodes.left < 0, flat.LEAF, flat.THRESHOLD).astype(np.int8),
        nodes.feature,
        nodes.threshold,
        nodes.left,
        nodes.right,
        nodes.missing_left,
        np.full(len(weight), -1, dtype=np.int32),
        np.empty(0, dtype=np.uint64),
        np.empty(0, dtype=np.int32),
        nodes.sums / weight[:, None],
        nodes.spread / weight,
        nodes.decrease / weight,
        weight,
        nodes.n_rows,
        nodes.depth,
        nodes.reason,
        ends(nodes.left, nodes.right),
        1,
    )


@compiled
def _grow(work, target, rules, tree):
    """Write the nodes of a tree in preorder; return their number."""
    codes, edges, rows, buffer, state, columns, bins, drawn, places, left_sums, waiting, held = work
    feature, threshold, left, right, missing_left, sums, spread, decrease, weight, n_rows, depth, reason = tree
    parents = np.empty(len(waiting), dtype=np.int64)  # times two, plus one for a right child
    parents[0] = -1
    waiting[0].first, waiting[0].last, waiting[0].depth = 0, len(rows), 0
    top, new, count, whole = 1, 1, 0, 0.0
    while top > 0:
        for place in range(top - new, top):  # the right child draws first
            own = rows[waiting[place].first : waiting[place].last]
            open_node(own, target, rules, waiting, held, place)
            whole = max(whole, waiting[place].weight)  # the weight of the root
            if waiting[place].reason == flat.SPLIT:
                if rules.max_features >= codes.shape[1]:
                    taken = codes.shape[1]
                    write_ranges(codes, own, 0, taken, bins)
                    draw_cuts(columns, edges, bins, taken, state)
                    add_left(target, own, codes, own, bins, taken, left_sums)
                else:
                    taken = draw_columns(codes, own, columns, bins, state, rules.max_features, drawn, places)
                    draw_cuts(columns, edges, bins, taken, state)
                    add_left(target, own, drawn, places, bins, taken, left_sums)
                k = _choose(target, columns, taken, left_sums, rules, whole, waiting, held, place)
                if k >= 0:
                    waiting[place].feature, waiting[place].place = columns[0, k], bins[LAST, columns[1, k]]
        top -= 1
        node, parent = count, parents[top]
        count, new = count + 1, 0
        if parent >= 0 and parent & 1:
            right[parent >> 1] = node
        elif parent >= 0:
            left[parent >> 1] = node
        feature[node], threshold[node], missing_left[node] = flat.UNDEFINED, flat.UNDEFINED, False
        left[node], right[node] = -1, -1
        for k in range(held.shape[1]):
            sums[node, k] = held[top, k]
        first, last = waiting[top].first, waiting[top].last
        spread[node], weight[node], n_rows[node] = waiting[top].spread, waiting[top].weight, last - first
        depth[node], reason[node], decrease[node] = waiting[top].depth, waiting[top].reason, 0.0
        if reason[node] != flat.SPLIT:
            continue
        j, below = waiting[top].feature, waiting[top].place
        n_left, code = divide(codes, rows[first:last], j, below, buffer)
        feature[node], threshold[node], decrease[node] = j, edges[j, code], waiting[top].decrease
        missing_left[node] = 2 * n_left > last - first  # values missing at prediction go where most rows go
        waiting[top].first, waiting[top].last = first + n_left, last
        waiting[top + 1].first, waiting[top + 1].last = first, first + n_left
        for place in range(top, top + 2):
            waiting[place].depth, parents[place] = depth[node] + 1, 2 * node + (place == top)
        new = 2
        top += new
    return count


@compiled
def _choose(target, columns, taken, left, rules, whole, nodes, sums, node):
    """Return the place of the column with the best cut; if there is none (-1), the node becomes a leaf."""
    weight, tie, best, at = nodes[node].weight, TIE * nodes[node].spread, -np.inf, -1
    limits = Limits(rules.min_samples_leaf, rules.min_weight_leaf, tie, -1, np.int64(0), -np.inf, np.inf)
    n, own = nodes[node].last - nodes[node].first, sums[node]
    for k in range(taken):
        cut = cut_of_sums(target, left, columns[1, k], n, weight, own, limits)
        if cut.place > 0 and cut.decrease > best + tie:
            best, at = cut.decrease, k
    nodes[node].decrease = max(best, 0.0)
    if at < 0:
        close_node(nodes, node, flat.NO_CUT)
    elif best < rules.min_gain * weight or best < rules.min_impurity_decrease * whole - tie:
        close_node(nodes, node, flat.SMALL_GAIN)
        at = -1
    return at
