"""Threads without surprises: fixed blocks, mapped over a pool, combined in a fixed order.

The cut into blocks depends on the problem alone, never on ``n_jobs``, and partial results are added in the order of the
blocks: the same bits for any number of threads. A pool lives for one call, so nothing is shared between callers, and a
forked child starts clean. Blocks must release the GIL (``@compiled`` loops, NumPy, BLAS held to one thread).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from surefit.core.errors import InvalidParameter


def count_threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise InvalidParameter("n_jobs", "n_jobs", "None, a positive count, or a negative one (-1: all cores)", n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Cut ``range(n)`` into consecutive (start, stop) pairs of at most ``size``.

    Examples
    --------
    >>> from surefit.core.threads import blocks
    >>> blocks(7, 3)
    [(0, 3), (3, 6), (6, 7)]
    """
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def map_blocks(work: Callable[[int, int], Any], n: int, size: int, n_jobs: int | None = None) -> list[Any]:
    """Return ``[work(start, stop) for each block]``, in the order of the blocks, computed by ``n_jobs`` threads."""
    pieces = blocks(n, size)
    threads = min(count_threads(n_jobs), len(pieces))
    if threads <= 1:
        return [work(start, stop) for start, stop in pieces]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda piece: work(*piece), pieces))


def tree_sum(parts: Iterable[Any]) -> Any:
    """Add parts pairwise: an order fixed by their number alone, with rounding that grows like its logarithm.

    Examples
    --------
    >>> from surefit.core.threads import tree_sum
    >>> tree_sum([1, 2, 3, 4, 5])
    15
    """
    level = list(parts)
    if not level:
        return 0.0
    while len(level) > 1:
        level = [level[i] + level[i + 1] if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0]


def sum_blocks(work: Callable[[int, int], Any], n: int, size: int, n_jobs: int | None = None) -> Any:
    """Sum ``work`` over all blocks: same bits for any ``n_jobs``."""
    return tree_sum(map_blocks(work, n, size, n_jobs))


class _OneBlasThread:
    """Hold BLAS to one thread while anybody is inside; the setting is the process's, so callers are counted."""

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self):
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *_):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.__exit__(None, None, None)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread() -> _OneBlasThread:
    """Context in which BLAS uses one thread, so that its sums have one order and threads do not fight over cores."""
    return _ONE_BLAS_THREAD
