"""Reproducible threads: fixed blocks, shared among threads, combined in a fixed order.

The division into blocks depends on the problem alone, never on ``n_jobs``, and partial results are added in the order of the blocks.
Results are therefore identical for any number of threads. Helpers belong to the thread that calls and end a millisecond after their last
block, so callers share no state, and forked processes start without helpers. The caller's own thread takes blocks like the others. Blocks
must release the GIL (``@compiled`` loops, NumPy, BLAS restricted to one thread).
"""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from surefit.core.errors import InvalidParameter
from surefit.core.guards.machine import cores

PARTS = 16  # largest number of parts of rows that threads share
LINES = 64  # rows of a part of a product are a multiple of this, so that BLAS groups them as in one product
PART = 2**18  # number of entries in the smallest part of a product
THREADED = 2**21  # number of entries from which threads take less time than their start
TALL = 32  # number of rows per column from which matrices with one row per column take little time
NARROW = 64  # number of columns up to which even small products take less time on one thread of BLAS
EXTENSIONS = tuple({*EXTENSION_SUFFIXES} - {".so"})  # ends of names that only extension modules have
SOME = 2**16  # number of entries below which fits take too little time for restricting BLAS


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
    return _share(work, pieces, threads)


def _share(work: Callable[[int, int], Any], pieces: list[tuple[int, int]], threads: int) -> list[Any]:
    """Return the results of all pieces; each thread, this one included, takes the next piece that is left.

    The caller never waits for a thread that has no piece.
    """
    from surefit.core.helpers import helpers  # most processes share nothing, and need no extensions of Numba

    left, results, errors = deque(enumerate(pieces)), [None] * len(pieces), []

    def take() -> None:
        while left:
            try:
                index, piece = left.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[index] = work(*piece)
            except BaseException as error:
                left.clear()
                errors.append((index, error))

    def help_with(lock: Any) -> None:
        if lock.acquire(blocking=False):  # otherwise the caller took all pieces before this thread ran
            try:
                take()
            finally:
                lock.release()

    team = helpers(threads - 1)
    locks = [allocate_lock() for _ in team]
    for helper, lock in zip(team, locks, strict=True):
        helper.post(partial(copy_context().run, help_with, lock))
    granted, _GRANTED.count = _GRANTED.count, min(_GRANTED.count, 1)  # a block does not start threads of its own
    try:
        take()
    finally:
        _GRANTED.count = granted
        for helper in team:
            helper.withdraw()
    for lock in locks:  # free unless its thread still works
        lock.acquire()
    if errors:
        raise min(errors, key=lambda found: found[0])[1]
    return results


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


def map_parts(work: Callable[[int, int], Any], shape: tuple[int, int], least: int, passes: int = 1) -> list[Any]:
    """Return ``work(start, stop)`` for fixed parts of at least ``least`` rows, computed by as many threads as BLAS may use.

    Each part uses one BLAS thread. Fewer rows are one part, which BLAS may share among its own threads. The work on an entry takes
    as long as ``passes`` passes over it.
    """
    n, d = shape
    parts = min(PARTS, n // max(least, 1))
    if n * d * passes < THREADED or parts < 4:
        return [work(0, n)]
    threads = blas_threads()
    with one_blas_thread():
        return map_blocks(work, n, -(-n // parts), threads)


def rows_times(X: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return ``X @ B``. If ``X`` has many more rows than columns, threads share fixed blocks of the rows, with one BLAS thread each."""
    (n, d), columns = X.shape, B.shape[1:]
    widest = max(d, 1, *columns)
    if n * widest < SOME or n < TALL * widest or (threads := blas_threads()) == 1:
        return np.asarray(X @ B)
    found = np.empty((n, *columns), dtype=np.result_type(X, B))

    def part(start: int, stop: int) -> None:
        np.matmul(X[start:stop], B, out=found[start:stop])

    with one_blas_thread():
        map_blocks(part, n, LINES * -(-max(PART // widest, n // PARTS) // LINES), threads)
    return found


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


class _Libraries(ThreadpoolController):  # type: ignore[misc]
    """Handles of the loaded libraries with threads; Python's extension modules, of which there are hundreds, are not among them."""

    def _make_controller_from_path(self, filepath: str) -> None:
        if not filepath.endswith(EXTENSIONS):
            super()._make_controller_from_path(filepath)


@cache
def _blas_libraries() -> tuple[Any, ...]:
    """Return threadpoolctl's handles of the loaded BLAS libraries; finding them takes milliseconds."""
    return tuple(library for library in _Libraries().lib_controllers if library.user_api == "blas")


class _Granted(threading.local):
    """Number of threads that this thread may use instead of BLAS; zero outside of :func:`threads_instead_of_blas`."""

    count = 0


_GRANTED = _Granted()


@contextmanager
def threads_instead_of_blas() -> Iterator[None]:
    """Return a context in which BLAS uses one thread, and threads that share rows take the place of the others.

    Threads of OpenBLAS wait for more work in a loop for many milliseconds after each call, and take the cores from other threads.
    """
    before = _GRANTED.count
    _GRANTED.count = blas_threads()
    try:
        with one_blas_thread():
            yield
    finally:
        _GRANTED.count = before


def is_tall(X: Any) -> bool:
    """Return whether threads of BLAS only disturb a fit to ``X``: it has many rows for each column, and many entries or few columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[0] < TALL * shape[1]:
        return False
    return shape[0] * shape[1] >= (SOME if shape[1] <= NARROW else THREADED)


def blas_threads() -> int:
    """Return the number of threads that BLAS may use now, at most one per core; passes of estimators without ``n_jobs`` use as many."""
    return _GRANTED.count or max(
        1, min(cores(), max((library.get_num_threads() for library in _blas_libraries()), default=1))
    )


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread() -> _OneBlasThread:
    """Return a context in which BLAS uses one thread, so that sums have a fixed order and threads do not compete for cores."""
    return _ONE_BLAS_THREAD
