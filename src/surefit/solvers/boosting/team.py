"""Histograms of large nodes by several threads, which take blocks of rows in turn; sums of integers do not depend on the order.

One thread grows the tree. The others run :func:`assist` and wait for a node with many rows. A counter distributes its blocks, so the
growing thread never waits for a thread that does not run: it processes all blocks that no other thread has taken. Numbers of a
task contain its generation in the high bits, so that a thread that comes late takes no block of the next task.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from surefit.core.jit import compiled
from surefit.solvers.boosting.histograms import add_all, add_range, add_rows, add_some, clear

ROWS = 4096  # rows per block
LINE = 16  # numbers per entry of the board, so that entries do not share a cache line
NEXT, LIMIT, DONE, START, STOP, SORTED, OVER, USED = (LINE * k for k in range(8))  # USED: one entry per assistant
TASK = 32  # bits of the number of a block


class Team(NamedTuple):
    """Board of the current task, and one histogram per assistant; both are empty for a thread alone."""

    board: np.ndarray
    histograms: np.ndarray  # (assistants, columns, 256, 2)


def make_team(assistants: int, n_groups: int) -> Team:
    """Allocate a team."""
    size = USED + LINE * assistants if assistants else 0
    return Team(np.zeros(size, dtype=np.int64), np.empty((assistants, 4 * n_groups, 256, 2), dtype=np.int64))


def _atomic(operation: str) -> Any:
    @intrinsic
    def change(typing_context, board, place, value):
        def code(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)
            return builder.atomic_rmw(operation, pointer, args[2], "seq_cst")

        return types.int64(board, types.int64, types.int64), code

    return change


added, swapped = _atomic("add"), _atomic("xchg")  # both return the number before the change


def _give_way(typing_context):
    """Let another thread run."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(32), [])
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])

    return types.int32(), code


give_way: Any = intrinsic(_give_way)


@compiled
def _add_block(columns, cells, rows, start, stop, in_order, histogram):
    if in_order:
        add_range(columns.words, cells, 0, len(columns.words), start, stop, histogram)
    else:
        add_rows(columns.by_row, cells, rows[start:stop], 0, len(columns.words), histogram)


@compiled
def add_together(columns, cells, rows, start, stop, histogram, team):
    """Compute the histogram of ``rows[start:stop]``; if these are all rows, they are in their order."""
    board, groups, in_order = team.board, len(columns.words), stop - start == len(cells)
    if len(board) == 0 or stop - start < 2 * ROWS:
        if in_order:
            add_all(columns.words, cells, np.int64(0), groups, histogram)
        else:
            add_some(columns.by_row, cells, rows[start:stop], np.int64(0), groups, histogram)
        return
    task = ((added(board, LIMIT, 0) >> TASK) + 1) << TASK
    count = (stop - start + ROWS - 1) // ROWS
    swapped(board, START, start)
    swapped(board, STOP, stop)
    swapped(board, SORTED, 1 if in_order else 0)
    swapped(board, DONE, 0)
    swapped(board, LIMIT, task + count)
    swapped(board, NEXT, task)  # from here on, assistants take blocks
    clear(histogram)
    while True:
        k = added(board, NEXT, 1) - task
        if k >= count:
            break
        first = start + k * ROWS
        _add_block(columns, cells, rows, first, min(first + ROWS, stop), in_order, histogram)
        added(board, DONE, 1)
    while added(board, DONE, 0) < count:
        give_way()
    for me in range(len(team.histograms)):
        if added(board, USED + LINE * me, 0) == task:
            _add(histogram, team.histograms[me])


@compiled
def assist(columns, cells, rows, team, me):
    """Take blocks of rows until the tree is complete."""
    board, own, last = team.board, team.histograms[me], np.int64(-1)
    while added(board, OVER, 0) == 0:
        limit = added(board, LIMIT, 0)
        at = added(board, NEXT, 0)
        if at >> TASK != limit >> TASK or at >= limit:
            give_way()
            continue
        at = added(board, NEXT, 1)
        limit = added(board, LIMIT, 0)
        task = (limit >> TASK) << TASK
        if at < task or at >= limit:
            continue
        if last != task:
            clear(own)
            last = task
            swapped(board, USED + LINE * me, task)
        start, stop = added(board, START, 0) + (at - task) * ROWS, added(board, STOP, 0)
        _add_block(columns, cells, rows, start, min(start + ROWS, stop), added(board, SORTED, 0) == 1, own)
        added(board, DONE, 1)


@compiled
def _add(total, part):
    for j in range(len(total)):
        for b in range(256):
            total[j, b, 0] += part[j, b, 0]
            total[j, b, 1] += part[j, b, 1]
