"""Choice of the split of a node: the best split by each column, then the best column; ties go to the earlier column and bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.columns import allow, note_subset, sorted_bins
from surefit.solvers.boosting.splits import Node, drop_of, scan, value_of


@compiled
def choose(columns, nodes, node, histogram, scale, rules, limits, choices, state):
    """Store the best split in the node (feature -1: none); return the state of the random number generator.

    ``choices`` is memory, one entry per column.
    """
    state = consider(columns, nodes, node, choices, state)
    for j in range(len(choices)):
        choose_by_column(columns, nodes, node, histogram, scale, rules, limits, choices, j)
    settle(columns, nodes, node, histogram, scale, rules, choices)
    return state


@compiled
def consider(columns, nodes, node, choices, state):
    """Mark the columns that a node considers; return the state of the random number generator."""
    allowed = np.ones(len(choices), dtype=np.bool_)
    state = allow(columns.considered, nodes[node].sets, allowed, state)
    for j in range(len(choices)):
        choices[j].allowed = allowed[j]
    return state


@compiled
def _drop_of(node, scale, rules):
    """Return twice the decrease of the loss by the value of a node that is not split."""
    G, H = node.gradient * scale.gradient, (node.packed >> scale.count_bits) * scale.curvature
    return drop_of(G, H, rules.l2, value_of(G, H, rules.l2, node.low, node.high))


@compiled
def choose_by_column(columns, nodes, node, histogram, scale, rules, limits, choices, j):
    """Store the best split of a node by column ``j``."""
    chosen, cells, this = choices[j], histogram[j], nodes[node]
    chosen.place = -1
    if not chosen.allowed:
        return
    own = Node(this.gradient, this.packed, this.low, this.high)
    mask = (np.int64(1) << scale.count_bits) - 1
    top = _drop_of(own, scale, rules) + limits.min_gain
    missing = columns.has_missing[j] and (cells[255, 1] & mask) > 0
    order = np.empty(256, dtype=np.int64)
    n_bins, places = sorted_bins(columns.kinds, j, cells, columns.n_bins[j], rules.l2, scale, order)
    for from_left in range(2 if missing else 1):
        top, place, c = scan(
            cells, n_bins, missing, places, own, scale, rules, columns.monotone[j], from_left == 1, top
        )
        if place >= 0:
            chosen.gain, chosen.place, chosen.missing_left = top, place, from_left == 1
            if not missing:  # none in training: missing values follow the majority
                chosen.missing_left = 2 * (c & mask) > (own.packed & mask)


@compiled
def settle(columns, nodes, node, histogram, scale, rules, choices):
    """Store the best of the splits by all columns in the node (feature -1: none)."""
    this = nodes[node]
    best: Any = np.int64(-1)
    for j in range(len(choices)):
        if choices[j].place >= 0 and (best < 0 or choices[j].gain > choices[best].gain):
            best = j
    this.feature = best
    if best < 0:
        return
    chosen = choices[best]
    own = Node(this.gradient, this.packed, this.low, this.high)
    this.gain, this.bin, this.missing_left = (
        chosen.gain - _drop_of(own, scale, rules),
        chosen.place,
        chosen.missing_left,
    )
    order = np.empty(256, dtype=np.int64)
    sorted_bins(columns.kinds, best, histogram[best], columns.n_bins[best], rules.l2, scale, order)
    note_subset(columns.kinds, best, this, order, chosen.place)
