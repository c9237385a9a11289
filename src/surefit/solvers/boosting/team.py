"""Several threads that grow one tree: they take blocks of a task in turn.

One thread grows the tree. The others run :func:`assist` and wait for a task. A counter distributes its blocks, so the growing
thread never waits for a thread that does not run: it processes all blocks that no other thread has taken. Numbers of a
task contain its generation in the high bits, so that a thread that comes late takes no block of the next task.
"""

from __future__ import annotations

import numpy as np

from surefit.core.atomics import added, give_way, swapped
from surefit.core.jit import compiled
from surefit.solvers.boosting.histograms import clear
from surefit.solvers.boosting.tasks import DIVIDE, DONE, KIND, LIMIT, LINE, NEXT, OVER, USED, perform

TASK = 32  # bits of the number of a block


def make_board(assistants: int) -> np.ndarray:
    """Return the board of a team, without a task."""
    return np.zeros(USED + LINE * assistants, dtype=np.int64)


@compiled
def share(job, count, slot):
    """Do the ``count`` blocks of the task on the board together with the assistants.

    Rows are added to the histogram in ``slot``. Returns the number of the task, -1 without assistants.
    """
    board = job.board
    alone, task, k = len(board) == USED or count < 2, np.int64(-1), np.int64(-1)
    if not alone:
        task = ((added(board, LIMIT, 0) >> TASK) + 1) << TASK
        swapped(board, DONE, 0)
        swapped(board, LIMIT, task + count)
        swapped(board, NEXT, task)  # from here on, assistants take blocks
    while True:
        k = k + 1 if alone else added(board, NEXT, 1) - task
        if k >= count:
            break
        perform(job, k, slot)
        if not alone:
            added(board, DONE, 1)
    while not alone and added(board, DONE, 0) < count:
        give_way()
    return task


@compiled
def assist(job, me):
    """Take blocks until the tree is complete."""
    board, histograms, last = job.board, job.space.histograms, np.int64(-1)
    slot = len(histograms) - 1 - me
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
        if last != task and board[KIND] <= DIVIDE:
            clear(histograms[slot])
            last = task
            swapped(board, USED + LINE * me, task)
        perform(job, at - task, slot)
        added(board, DONE, 1)
