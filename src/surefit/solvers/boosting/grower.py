"""Growth of one tree on histograms of gradients; with a limit on leaves, the largest gain is split first."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.solvers.boosting.binning import code_at
from surefit.solvers.boosting.columns import allow, narrowed, note_subset, sorted_bins
from surefit.solvers.boosting.histograms import take_away
from surefit.solvers.boosting.splits import Node, scan, value_of
from surefit.solvers.boosting.team import add_together


@compiled
def goes_left(nodes, node, code):
    """Return whether rows with this code of the node's column go left."""
    if code == 255:
        return nodes.missing_left[node]
    if nodes.bin[node] >= 0:
        return code <= nodes.bin[node]
    return (nodes.subset[node, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) == 1


@compiled
def _numbered(n):
    """Return the numbers below ``n``; ``np.arange`` takes longer to compile."""
    numbers = np.empty(n, dtype=np.int64)
    for k in range(n):
        numbers[k] = k
    return numbers


@compiled
def grow(columns, cells, scale, rules, limits, nodes, space, seed, team):
    """Grow a tree; return the number of nodes. Afterward, ``space.rows`` is sorted by leaf, then by index.

    The threads of ``team`` help with the histograms of large nodes.
    """
    root = np.int64(0)  # not a literal, which would trigger a second compilation
    histograms, feature, slots = space.histograms, nodes.feature, nodes.slot
    n_groups, n_free = len(columns.words), len(histograms)
    free = _numbered(n_free)
    _start_at_root(cells, nodes, space.rows)
    pending = np.empty(len(nodes.left), dtype=np.int64)
    n_pending: Any = np.int64(0)
    count, leaves, state = np.int64(1), np.int64(1), np.uint64(seed)
    if may_split(nodes, root, rules, limits):
        n_free, slot = n_free - 1, free[n_free - 1]
        add_together(columns, cells, space.rows, root, len(cells), histograms[slot], team)
        state = choose(columns, nodes, root, histograms[slot], scale, rules, limits, state)
        slots[0] = slot
        if feature[0] >= 0:
            pending[0], n_pending = root, n_pending + 1
    while n_pending > 0:
        # without a limit on leaves, the last node, so that few histograms are kept
        at = _place_of_best(pending[:n_pending], nodes.gain) if limits.max_leaves > 0 else n_pending - 1
        node = pending[at]
        n_pending -= 1
        pending[at] = pending[n_pending]
        if limits.max_leaves > 0 and leaves >= limits.max_leaves:
            feature[node] = -1
            continue
        left, right = count, count + 1
        count, leaves = count + 2, leaves + 1
        nodes[node].left, nodes[node].right = left, right
        _divide(columns, nodes, node, left, right, space, scale, rules)
        last_leaf = limits.max_leaves > 0 and leaves >= limits.max_leaves
        open_left = not last_leaf and may_split(nodes, left, rules, limits)
        open_right = not last_leaf and may_split(nodes, right, rules, limits)
        slot, slots[node] = slots[node], -1
        if not (open_left or open_right):
            free[n_free] = slot
            n_free += 1
            continue
        small, large = _by_size(nodes, left, right)
        n_free, other = n_free - 1, free[n_free - 1]
        start, stop = nodes[small].first, nodes[small].last
        add_together(columns, cells, space.rows, start, stop, histograms[other], team)
        take_away(histograms[slot], histograms[other], root, n_groups)
        slots[small], slots[large] = other, slot
        for child in (large, small):  # without a limit on leaves, the smaller child is split first
            is_open, held = open_left if child == left else open_right, slots[child]
            if is_open:
                state = choose(columns, nodes, child, histograms[held], scale, rules, limits, state)
            if is_open and feature[child] >= 0:
                pending[n_pending] = child
                n_pending += 1
            else:
                slots[child] = -1
                free[n_free] = held
                n_free += 1
    return count


@compiled
def _start_at_root(cells, nodes, rows):
    """Assign all rows to the root."""
    a, c = np.int64(0), np.int64(0)
    for i in range(len(cells)):
        rows[i] = i
        a += cells[i, 0]
        c += cells[i, 1]
    top = nodes[0]
    top.gradient, top.packed, top.first, top.last = a, c, 0, len(cells)
    top.depth, top.sets, top.low, top.high = 0, -1, -np.inf, np.inf


@compiled
def _place_of_best(pending, gain):
    """Return the position in ``pending`` of the node with the largest gain; ties go to the lowest node index."""
    at = len(pending) - 1
    for k in range(len(pending)):
        best, rival = pending[at], pending[k]
        if gain[rival] > gain[best] or (gain[rival] == gain[best] and rival < best):
            at = k
    return at


@compiled
def _by_size(nodes, left, right):
    """Return the child with fewer rows, and the other one."""
    if nodes[right].last - nodes[right].first < nodes[left].last - nodes[left].first:
        return right, left
    return left, right


@compiled
def may_split(nodes, node, rules, limits):
    """Return whether a node has enough rows for a split and is above the maximum depth."""
    own = nodes[node]
    rows = own.last - own.first
    return rows >= 2 * rules.min_rows and rows >= 2 and own.depth < limits.max_depth


@compiled
def choose(columns, nodes, node, histogram, scale, rules, limits, state):
    """Store the best split in the node (feature -1: none); return the state of the random number generator."""
    d = len(columns.n_bins)
    chosen, has_missing = nodes[node], columns.has_missing
    count_bits, l2 = scale.count_bits, rules.l2
    own = Node(chosen.gradient, chosen.packed, chosen.low, chosen.high)
    mask = (np.int64(1) << count_bits) - 1
    G, H = own.gradient * scale.gradient, (own.packed >> count_bits) * scale.curvature
    v = value_of(G, H, l2, own.low, own.high)
    parent = -(2.0 * G * v + (H + l2) * v * v)
    top = parent + limits.min_gain
    chosen.feature = -1
    allowed = np.ones(d, dtype=np.bool_)
    state = allow(columns.considered, chosen.sets, allowed, state)
    order = np.empty(256, dtype=np.int64)
    for j in range(d):
        if not allowed[j]:
            continue
        cells = histogram[j]
        missing = has_missing[j] and (cells[255, 1] & mask) > 0
        n_bins, places = sorted_bins(columns.kinds, j, cells, columns.n_bins[j], l2, scale, order)
        for from_left in range(2 if missing else 1):
            gain, place, c = scan(
                cells, n_bins, missing, places, own, scale, rules, columns.monotone[j], from_left == 1, top
            )
            if place >= 0:
                top = gain
                chosen.feature, chosen.missing_left = j, from_left == 1
                chosen.gain = gain - parent
                if not has_missing[j] or not missing:  # none in training: missing values follow the majority
                    chosen.missing_left = 2 * (c & mask) > (own.packed & mask)
                chosen.bin = place
                note_subset(columns.kinds, j, chosen, order, place)
    return state


@compiled
def _divide(columns, nodes, node, left, right, space, scale, rules):
    """Partition the rows of a node among its children, and initialize the children."""
    table = left_codes(nodes, node)
    own = nodes[node]
    cells = space.histograms[own.slot, own.feature]
    adopt(columns, nodes, node, left, right, cells, table, scale, rules)
    divide_rows(columns.words, own.feature, table, space.rows, space.slack, own.first, own.last)


@compiled
def divide_rows(words, j, table, rows, slack, start, stop):
    """Move the rows whose code of column j goes left before the others, keeping their order; return the start of the others."""
    line, shift, own = words[j >> 2], np.uint32(8 * (j & 3)), rows[start:stop]
    middle = np.int64(0)
    for k in range(len(own)):  # unsigned indices need no test of the sign
        row = own[k]
        to_left = np.int64(table[(line[row] >> shift) & np.uint32(255)])
        own[np.uint64(middle)] = row
        slack[np.uint64(k - middle)] = row
        middle += to_left
    copy_into(own[middle:], slack[: len(own) - middle])
    return start + middle


@compiled
def left_codes(nodes, node):
    """Return which of the 256 codes of the node's column go left."""
    table = np.empty(256, dtype=np.bool_)
    for b in range(256):
        table[b] = goes_left(nodes, node, b)
    return table


@compiled
def adopt(columns, nodes, node, left, right, cells, table, scale, rules):
    """Initialize the children of a node from the histogram ``cells`` of its column and the codes that go left."""
    own, below, above = nodes[node], nodes[left], nodes[right]
    j = own.feature
    sign = columns.monotone[j]
    a, c = np.int64(0), np.int64(0)
    for b in range(256):
        if table[b]:
            a += cells[b, 0]
            c += cells[b, 1]
    middle = own.first + (c & ((np.int64(1) << scale.count_bits) - 1))
    below.first, below.last, above.first, above.last = own.first, middle, middle, own.last
    below.gradient, below.packed = a, c
    above.gradient, above.packed = own.gradient - a, own.packed - c
    sets = narrowed(columns.considered, own.sets, j)
    for child in (below, above):
        child.depth = own.depth + 1
        child.sets = sets
        child.low, child.high = own.low, own.high
        child.feature = -1
    if sign != 0:
        middle_value = 0.0
        for child in (below, above):
            G = child.gradient * scale.gradient
            H = (child.packed >> scale.count_bits) * scale.curvature
            middle_value += 0.5 * value_of(G, H, rules.l2, own.low, own.high)
        rising = sign > 0
        if rising:
            below.high, above.low = middle_value, middle_value
        else:
            below.low, above.high = middle_value, middle_value


@compiled
def route(words, nodes, row):
    """Return the leaf of a binned row."""
    node = 0
    while nodes.feature[node] >= 0:
        code = np.int64(code_at(words, nodes.feature[node], row))
        node = nodes.left[node] if goes_left(nodes, node, code) else nodes.right[node]
    return node
