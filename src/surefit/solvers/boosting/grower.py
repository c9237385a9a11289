"""Growth of one tree on histograms of gradients; with a limit on leaves, the largest gain is split first."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.binning import code_at
from surefit.solvers.boosting.choices import consider, settle
from surefit.solvers.boosting.columns import narrowed
from surefit.solvers.boosting.histograms import clear
from surefit.solvers.boosting.nodes import MOST_ROWS
from surefit.solvers.boosting.splits import value_of
from surefit.solvers.boosting.tasks import (
    DIVIDE,
    FINISH,
    FIRST,
    GROUPS,
    KIND,
    LARGE,
    LEAVES,
    LINE,
    MADE,
    NODE,
    PART,
    REST,
    SIDE,
    SIZE,
    SMALL,
    START,
    STOP,
    USED,
)
from surefit.solvers.boosting.team import share


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
def grow(job, seed):
    """Grow a tree; return the number of nodes. Afterward, ``space.rows`` is sorted by leaf, then by index.

    Assistants of the board help with all tasks. A step consists of two tasks: the rows of a node are divided, and those of the
    smaller child added to its histogram; then rows move to the children, and the best splits of the children are found.
    """
    columns, scale, rules, limits, rate, nodes, space, own, board = job
    histograms, feature, slots, choices = space.histograms, nodes.feature, nodes.slot, space.choices
    n_free: Any = len(histograms) - (len(board) - USED) // LINE - 1
    free, pending, n_pending = _numbered(n_free + 1), np.empty(len(slots), dtype=np.int64), np.int64(0)
    count, leaves, state = np.int64(1), np.int64(1), np.uint64(seed)
    small, large = np.int64(-1), np.int64(0)
    blocks = _begin_root(nodes, board, len(own.g), n_free)
    while True:
        if board[SIDE] >= 0:
            clear(histograms[board[PART]])
        board[MADE] = share(job, blocks, board[PART])
        blocks = _end_rows(nodes, board, histograms, space.begins, blocks, rules, limits)
        board[GROUPS] = len(columns.words) if board[LARGE] >= 0 or board[SMALL] >= 0 else 0
        for side in range(2):
            if board[LARGE + side] >= 0:
                state = consider(columns, nodes, board[LARGE + side], choices[side], state)
        share(job, board[GROUPS] + blocks, board[PART])
        for side in range(2):  # without a limit on leaves, the smaller child is split first
            child = large if side == 0 else small
            if child >= 0:
                held = slots[child]
                if board[LARGE + side] >= 0:
                    settle(columns, nodes, child, histograms[held], scale, rules, choices[side])
                if feature[child] >= 0:
                    pending[n_pending] = child
                    n_pending += 1
                else:
                    slots[child], free[n_free] = -1, held
                    n_free += 1
        if n_pending == 0 or (limits.max_leaves > 0 and leaves >= limits.max_leaves):
            break
        # without a limit on leaves, the last node, so that few histograms are kept
        at = _place_of_best(pending[:n_pending], nodes.gain) if limits.max_leaves > 0 else n_pending - 1
        node, n_pending, n_free = pending[at], n_pending - 1, n_free - 1
        pending[at] = pending[n_pending]
        left = count
        nodes[node].left, nodes[node].right = left, left + 1
        count, leaves = count + 2, leaves + 1
        _fill_left_codes(nodes, node, space.table)
        cells = histograms[slots[node], feature[node]]
        adopt(columns, nodes, node, left, left + 1, cells, space.table, scale, rules)
        small, large = _by_size(nodes, left, left + 1)
        slots[small], slots[large], slots[node] = free[n_free], slots[node], -1
        blocks = _begin_division(nodes, board, node, small, large, rules, limits, leaves)
    for k in range(n_pending):
        feature[pending[k]] = -1
    if rate > 0.0:
        board[KIND] = LEAVES
        share(job, count, np.int64(0))
    return count


@compiled
def _begin_root(nodes, board, n, slot):
    """Assign all rows to the root, and put the task of its histogram on the board; return the number of blocks."""
    top = nodes[0]
    top.first, top.last, top.depth, top.sets, top.low, top.high = 0, n, 0, -1, -np.inf, np.inf
    top.feature, top.slot, top.gradient, top.packed = -1, slot, 0, 0
    board[KIND], board[PART], board[REST], board[SIDE] = FIRST, slot, -1, 0
    return _describe_rows(board, np.int64(0), n)


@compiled
def _begin_division(nodes, board, node, small, large, rules, limits, leaves):
    """Put the division of a node on the board; return the number of blocks."""
    full = limits.max_leaves > 0 and leaves >= limits.max_leaves
    for side in range(2):
        child = large if side == 0 else small
        board[LARGE + side] = -1 if full or not may_split(nodes, child, rules, limits) else child
    board[KIND], board[NODE], board[PART], board[REST] = DIVIDE, node, nodes[small].slot, nodes[large].slot
    board[SIDE] = 0 if small < large else 1
    if board[LARGE] < 0 and board[SMALL] < 0:
        board[SIDE] = -1
    return _describe_rows(board, nodes[node].first, nodes[node].last)


@compiled
def _describe_rows(board, start, stop):
    """Put a range of rows on the board; return the number of its blocks."""
    size = min(max((stop - start) // 8, 1024), MOST_ROWS)
    board[START], board[STOP], board[SIZE] = start, stop, size
    return (stop - start + size - 1) // size


@compiled
def _end_rows(nodes, board, histograms, begins, blocks, rules, limits):
    """Complete the root, or count the rows before each block of a divided node; return the number of blocks of rows to be moved."""
    is_root, top = board[KIND] == FIRST, nodes[0]
    board[KIND] = FINISH
    if not is_root:
        begins[0] = 0
        for k in range(blocks):
            begins[k + 1] += begins[k]
        return blocks
    for slot in range(len(histograms)):
        me = len(histograms) - 1 - slot
        if slot == top.slot or (slot > top.slot and board[USED + LINE * me] == board[MADE]):
            for b in range(256):
                top.gradient += histograms[slot, 0, b, 0]
                top.packed += histograms[slot, 0, b, 1]
    board[LARGE], board[SMALL] = 0 if may_split(nodes, np.int64(0), rules, limits) else -1, -1
    return np.int64(0)


@compiled
def _fill_left_codes(nodes, node, table):
    """Store which of the 256 codes of the node's column go left."""
    for b in range(256):
        table[b] = goes_left(nodes, node, b)


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
def left_codes(nodes, node):
    """Return which of the 256 codes of the node's column go left."""
    table = np.empty(256, dtype=np.bool_)
    _fill_left_codes(nodes, node, table)
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
