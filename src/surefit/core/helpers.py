"""Threads that help their caller, and that wait for its next call before they end.

The passes of an iterative fit take less than a millisecond and follow each other closely. A core that sleeps in between needs up to a third
of a millisecond until a new thread runs on it. A helper therefore keeps its core for about a millisecond after its work.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config

from surefit.core.atomics import added, give_way
from surefit.core.jit import compiled

WAITS = 3000  # number of times that a helper lets other threads run before it ends, about a millisecond


class Helper:
    """A thread for the tasks of one caller. A task may not be done, if the thread comes late: the caller does what is left."""

    def __init__(self) -> None:
        self._posted = np.zeros(1, dtype=np.int64)  # number of tasks so far
        self._task: Callable[[], None] | None = None
        self._alive = allocate_lock()  # held for the thread

    def post(self, task: Callable[[], None]) -> None:
        """Let the thread do ``task``; start it if it has ended."""
        self._task = task
        self._posted[0] += 1
        if self._alive.acquire(blocking=False):
            try:
                start_new_thread(self._run, ())
            except RuntimeError:  # too many threads
                self._alive.release()

    def withdraw(self) -> None:
        """Forget a task that the thread has not begun."""
        self._task = None

    def _run(self) -> None:
        while True:
            seen = int(self._posted[0])
            task, self._task = self._task, None
            if task is not None:
                task()
                del task  # with the arrays of the caller
            if config.DISABLE_JIT or not _is_posted(self._posted, seen, WAITS):  # type: ignore[attr-defined]
                self._alive.release()
                if self._posted[0] == seen or not self._alive.acquire(blocking=False):
                    return  # otherwise a task came too early for another thread


@compiled
def _is_posted(posted: Any, seen: int, waits: int) -> bool:
    """Wait for another task; return whether there is one."""
    for _ in range(waits):
        if added(posted, 0, 0) != seen:
            return True
        give_way()
    return False


class _Team(threading.local):
    """The helpers of a thread."""

    def __init__(self) -> None:
        self.helpers: list[Helper] = []


_TEAM = _Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _TEAM.helpers.clear())  # their threads are not forked


def helpers(count: int) -> list[Helper]:
    """Return ``count`` helpers of this thread."""
    team = _TEAM.helpers
    team.extend(Helper() for _ in range(count - len(team)))
    return team[:count]
