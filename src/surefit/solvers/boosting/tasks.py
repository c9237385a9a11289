"""Work on a growing tree in blocks that several threads can take: rows of a node, groups of four columns, and leaves.

The result does not depend on who takes a block: histograms are sums of integers, the order of the rows is kept, the best splits
by the columns are compared in the order of the columns, and the rows of a leaf are added by one thread in their order.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.choices import choose_by_column
from surefit.solvers.boosting.histograms import add_group, add_range, add_rows, quantize, take_away

LINE = 16  # numbers per entry of the board that threads change, so that these do not share a cache line
NEXT, LIMIT, DONE, OVER = (LINE * k for k in range(4))
#: Description of the task, written while no thread works: its kind, the node, its range of rows and the size of a block, the side
#: (0: left, 1: right, -1: none) whose histogram is computed, the number of groups of columns, the nodes that may be split, the
#: slots of the smaller and the larger child (-1: no subtraction), and the task whose histograms of assistants are to be added.
KIND, NODE, START, STOP, SIZE, SIDE, GROUPS, LARGE, SMALL, PART, REST, MADE = (4 * LINE + k for k in range(12))
USED = 5 * LINE  # one entry per assistant: the last task for which it has a histogram
FIRST, DIVIDE, FINISH, LEAVES = range(4)  # kinds of tasks


@compiled
def perform(job, k, slot):
    """Do block ``k`` of the current task; rows are added to the histogram in ``slot``."""
    columns, scale, rules, limits, rate, nodes, space, own, board = job
    cells, rows, slack, begins, table, choices, histograms = space
    kind, groups, words = board[KIND], board[GROUPS], columns.words
    if kind == LEAVES:
        leaf = nodes[k]
        last = leaf.last if leaf.feature < 0 else leaf.first  # other nodes have no rows of their own
        _set_leaf(leaf, rows[leaf.first : last], own.g, own.h, own.z, rules.l2, rate)
        return
    if kind == FINISH and k < groups:
        complete(board, histograms, k)
        for side in range(2):
            node = board[LARGE + side]
            if node >= 0:
                held, found = histograms[nodes[node].slot], choices[side]
                for j in range(4 * k, min(4 * k + 4, len(found))):
                    choose_by_column(columns, nodes, node, held, scale, rules, limits, found, j)
        return
    block = k - groups if kind == FINISH else k
    first = board[START]
    start = first + block * board[SIZE]
    stop = min(start + board[SIZE], board[STOP])
    parted = slack[start:stop]
    if kind == FIRST:
        quantize(
            own.g[start:stop], own.h[start:stop], scale.gradient, scale.curvature, scale.count_bits, cells[start:stop]
        )
        for i in range(start, stop):
            rows[i] = i
        add_range(words, cells, 0, len(words), start, stop, histograms[slot])
    elif kind == DIVIDE:
        left = part_rows(words, nodes[board[NODE]].feature, table, rows[start:stop], parted)
        begins[block + 1] = left
        if board[SIDE] >= 0:  # the smaller child needs a histogram
            chosen = parted[:left] if board[SIDE] == 0 else parted[left:]
            add_rows(columns.by_row, cells, chosen, 0, len(words), histograms[slot])
    else:
        before, left = begins[block], begins[block + 1] - begins[block]
        right = nodes[nodes[board[NODE]].left].last + (start - first) - before
        join_rows(parted, left, rows[first + before :], rows[right:])


@compiled
def part_rows(words, j, table, rows, parted):
    """Write the rows whose code of column ``j`` goes left to the start of ``parted``, the others to its end, the first one last.

    Returns the number of the former.
    """
    line, shift = words[j >> 2], np.uint32(8 * (j & 3))
    left, last = np.int64(0), len(rows) - 1
    for k in range(len(rows)):  # unsigned indices need no test of the sign
        row = rows[k]
        parted[np.uint64(left)] = row
        parted[np.uint64(last - k + left)] = row
        left += np.int64(table[(line[row] >> shift) & np.uint32(255)])
    return left


@compiled
def join_rows(parted, left, lefts, rights):
    """Copy parted rows to two ranges, in their order."""
    for k in range(left):
        lefts[k] = parted[k]
    last = len(parted) - 1
    for k in range(last + 1 - left):
        rights[k] = parted[np.uint64(last - k)]


@compiled
def complete(board, histograms, q):
    """Complete the histogram on the board by those of the assistants, then subtract it from that of its parent, for four columns."""
    part, rest = board[PART], board[REST]
    for me in range((len(board) - USED) // LINE):
        if part >= 0 and board[MADE] >= 0 and board[USED + LINE * me] == board[MADE]:
            add_group(histograms[part], histograms[len(histograms) - 1 - me], 4 * q)
    if part >= 0 and rest >= 0:
        take_away(histograms[rest], histograms[part], 4 * q)


@compiled
def _set_leaf(leaf, rows, g, h, z, l2, rate):
    """Set the value of a leaf to the Newton step of its rows, within its limits, times the learning rate; update their scores."""
    G = H = 0.0
    for k in range(len(rows)):
        G += g[rows[k]]
        H += h[rows[k]]
    leaf.value = rate * min(max(-G / (H + l2 + 1e-15), leaf.low), leaf.high)
    for k in range(len(rows)):
        z[rows[k]] += leaf.value
