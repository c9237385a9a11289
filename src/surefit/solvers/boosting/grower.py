"""Growth of one tree on histograms of gradients; with a limit on leaves, the largest gain is split first."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.solvers.boosting.binning import code_at
from surefit.solvers.boosting.histograms import take_away
from surefit.solvers.boosting.splits import Node, by_ratio, scan, value_of
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
        nodes.left[node], nodes.right[node] = left, right
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
        start, stop = nodes.first[small], nodes.last[small]
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
    nodes.gradient[0], nodes.packed[0], nodes.first[0], nodes.last[0] = a, c, 0, len(cells)
    nodes.depth[0], nodes.sets[0], nodes.low[0], nodes.high[0] = 0, -1, -np.inf, np.inf


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
    if nodes.last[right] - nodes.first[right] < nodes.last[left] - nodes.first[left]:
        return right, left
    return left, right


@compiled
def may_split(nodes, node, rules, limits):
    """Return whether a node has enough rows for a split and is above the maximum depth."""
    rows = nodes.last[node] - nodes.first[node]
    return rows >= 2 * rules.min_rows and rows >= 2 and nodes.depth[node] < limits.max_depth


@compiled
def choose(columns, nodes, node, histogram, scale, rules, limits, state):
    """Store the best split in the node (feature -1: none); return the state of the random number generator."""
    d = len(columns.n_bins)
    feature, missing_left = nodes.feature, nodes.missing_left
    has_missing, categorical = columns.has_missing, columns.categorical
    count_bits, l2 = scale.count_bits, rules.l2
    own = Node(nodes.gradient[node], nodes.packed[node], nodes.low[node], nodes.high[node])
    mask = (np.int64(1) << count_bits) - 1
    G, H = own.gradient * scale.gradient, (own.packed >> count_bits) * scale.curvature
    v = value_of(G, H, l2, own.low, own.high)
    parent = -(2.0 * G * v + (H + l2) * v * v)
    top = parent + limits.min_gain
    feature[node] = -1
    allowed = np.ones(d, dtype=np.bool_)
    state = _allow(columns, nodes.sets[node], allowed, state)
    order = np.empty(256, dtype=np.int64)
    for j in range(d):
        if not allowed[j]:
            continue
        cells = histogram[j]
        missing = has_missing[j] and (cells[255, 1] & mask) > 0
        n_bins, places = columns.n_bins[j], order[:0]
        if categorical[j]:
            n_bins = by_ratio(cells, n_bins, l2, scale, order)
            places = order[:n_bins]
        for from_left in range(2 if missing else 1):
            gain, place, c = scan(
                cells, n_bins, missing, places, own, scale, rules, columns.monotone[j], from_left == 1, top
            )
            if place >= 0:
                top = gain
                feature[node], missing_left[node] = j, from_left == 1
                nodes.gain[node] = gain - parent
                if not has_missing[j] or not missing:  # none in training: missing values follow the majority
                    missing_left[node] = 2 * (c & mask) > (own.packed & mask)
                nodes.bin[node] = place
                if categorical[j]:
                    nodes.bin[node] = -1
                    nodes.subset[node] = 0
                    for k in range(place + 1):
                        b = order[k]
                        nodes.subset[node, b >> 5] |= np.uint32(1) << np.uint32(b & 31)
    return state


@compiled
def _allow(columns, sets, allowed, state):
    """Mark the columns that interaction sets allow, then keep a random subset of them."""
    d = len(allowed)
    if len(columns.groups):
        allowed[:] = False
        for q in range(len(columns.groups)):
            if (sets >> q) & 1:
                for j in range(d):
                    if columns.groups[q, j]:
                        allowed[j] = True
    if columns.max_features < d:
        members, count = np.empty(d, dtype=np.int64), 0
        for j in range(d):
            if allowed[j]:
                members[count] = j
                count += 1
        keep = min(columns.max_features, count)
        allowed[:] = False
        for k in range(keep):  # partial Fisher-Yates shuffle
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            pick = k + np.int64((state >> np.uint64(33)) % np.uint64(count - k))
            members[k], members[pick] = members[pick], members[k]
            allowed[members[k]] = True
    return state


@compiled
def _divide(columns, nodes, node, left, right, space, scale, rules):
    """Partition the rows of a node among its children, and initialize the children."""
    table = left_codes(nodes, node)
    cells = space.histograms[nodes.slot[node], nodes.feature[node]]
    start, stop = nodes.first[node], nodes.last[node]
    adopt(columns, nodes, node, left, right, cells, table, scale, rules)
    divide_rows(columns.words, nodes.feature[node], table, space.rows, space.slack, start, stop)


@compiled
def divide_rows(words, j, table, rows, slack, start, stop):
    """Move the rows whose code of column j goes left before the others, keeping their order; return the start of the others."""
    line, shift = words[j >> 2], np.uint32(8 * (j & 3))
    middle, behind = start, 0
    for k in range(start, stop):
        row = rows[k]
        to_left = table[(line[row] >> shift) & np.uint32(255)]
        rows[middle] = row
        slack[behind] = row
        middle += to_left
        behind += not to_left
    copy_into(rows[middle:stop], slack[:behind])
    return middle


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
    j = nodes.feature[node]
    first, last, low, high = nodes.first, nodes.last, nodes.low, nodes.high
    gradient, packed = nodes.gradient, nodes.packed
    groups, sign = columns.groups, columns.monotone[j]
    a, c = np.int64(0), np.int64(0)
    for b in range(256):
        if table[b]:
            a += cells[b, 0]
            c += cells[b, 1]
    start, stop = first[node], last[node]
    middle = start + (c & ((np.int64(1) << scale.count_bits) - 1))
    first[left], last[left], first[right], last[right] = start, middle, middle, stop
    gradient[left], packed[left] = a, c
    gradient[right], packed[right] = gradient[node] - a, packed[node] - c
    sets = nodes.sets[node]
    for q in range(len(groups)):
        if not groups[q, j]:
            sets &= ~(np.int64(1) << q)
    for child in (left, right):
        nodes.depth[child] = nodes.depth[node] + 1
        nodes.sets[child] = sets
        low[child], high[child] = low[node], high[node]
        nodes.feature[child] = -1
    if sign != 0:
        middle_value = 0.0
        for child in (left, right):
            G = gradient[child] * scale.gradient
            H = (packed[child] >> scale.count_bits) * scale.curvature
            middle_value += 0.5 * value_of(G, H, rules.l2, low[node], high[node])
        rising = sign > 0
        if rising:
            high[left], low[right] = middle_value, middle_value
        else:
            low[left], high[right] = middle_value, middle_value


@compiled
def route(words, nodes, row):
    """Return the leaf of a binned row."""
    node = 0
    while nodes.feature[node] >= 0:
        code = np.int64(code_at(words, nodes.feature[node], row))
        node = nodes.left[node] if goes_left(nodes, node, code) else nodes.right[node]
    return node
