"""Reproducible threads: fixed blocks, mapped over a pool, combined in a fixed order.

The division into blocks depends on the problem alone, never on ``n_jobs``, and partial results are added in the order of the blocks.
Results are therefore identical for any number of threads. A pool exists for one call only, so callers share no state and forked processes
are safe. Blocks must release the GIL (``@compiled`` loops, NumPy, BLAS restricted to one thread).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from surefit.core.errors import InvalidParameter
from surefit.core.guards.machine import cores


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None is 1, -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise InvalidParameter(
            "n_jobs", "n_jobs", "None, an integer >= 1, or a negative integer (-1: all cores)", n_jobs
        )
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def threads_to_check(n_jobs: Any) -> int:
    """Return the number of threads for a checker, at most one per core, from the ``n_jobs`` in a certificate, which may be anything."""
    return min(count_threads(n_jobs), cores()) if isinstance(n_jobs, int) and n_jobs != 0 else 1


def blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Divide ``range(n)`` into consecutive (start, stop) pairs of length at most ``size``.

    Examples
    --------
    >>> from surefit.core.threads import blocks
    >>> blocks(7, 3)
    [(0, 3), (3, 6), (6, 7)]
    """
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def map_blocks(work: Callable[[int, int], Any], n: int, size: int, n_jobs: int | None = None) -> list[Any]:
    """Return ``[work(start, stop) for each block]``, in the order of the blocks, computed by ``n_jobs`` threads."""
    if n_jobs is None and 0 < n <= size:
        return [work(0, n)]
    pieces = blocks(n, size)
    threads = min(count_threads(n_jobs), len(pieces))
    if threads <= 1:
        return [work(start, stop) for start, stop in pieces]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda piece: work(*piece), pieces))


def tree_sum(parts: Iterable[Any]) -> Any:
    """Add the parts pairwise. The order depends only on their number, and the rounding error grows with its logarithm.

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
    """Return the sum of ``work`` over all blocks; it is identical for any ``n_jobs``."""
    return tree_sum(map_blocks(work, n, size, n_jobs))


class _OneBlasThread:
    """Context that restricts BLAS to one thread while any caller is inside. The setting is global, so callers are counted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Any, int]] = []  # libraries that had more threads

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                found = [(library, library.get_num_threads()) for library in _blas_libraries()]
                self._before = [(library, count) for library, count in found if count != 1]
                for library, _ in self._before:
                    library.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, count in self._before:
                    library.set_num_threads(count)


@cache
def _blas_libraries() -> tuple[Any, ...]:
    """Return threadpoolctl's handles of the loaded BLAS libraries; finding them takes milliseconds."""
    return tuple(library for library in ThreadpoolController().lib_controllers if library.user_api == "blas")


def blas_threads() -> int:
    """Return the number of threads that BLAS may use now, at most one per core; passes of estimators without ``n_jobs`` use as many."""
    return max(1, min(cores(), max((library.get_num_threads() for library in _blas_libraries()), default=1)))


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread() -> _OneBlasThread:
    """Return a context in which BLAS uses one thread, so that sums have a fixed order and threads do not compete for cores."""
    return _ONE_BLAS_THREAD
