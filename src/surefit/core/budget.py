"""Stopping criteria of solvers: iterations, time limit, Ctrl-C, callback."""

from __future__ import annotations

import _signal  # without the enumerations of the module signal, which take 16 microseconds of each fit
import signal
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from surefit.core.guards.interrupts import leave_while_loading

_SIGINT = int(signal.SIGINT)


class Reason(StrEnum):
    """Reason why a solver stopped. The value is stored in certificates; :meth:`sentence` is shown to the user."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    MAX_TIME = "max_time"
    INTERRUPTED = "interrupted"
    CALLBACK = "callback"
    STALLED = "stalled"

    def sentence(self) -> str:
        """Return a sentence that says why the solver stopped and what to do about it."""
        return {
            Reason.CONVERGED: "the requested gap was reached",
            Reason.MAX_ITER: "max_iter was reached; raise max_iter or tol, or scale the features",
            Reason.MAX_TIME: "max_time was reached; raise max_time or tol, or continue with warm_start=True",
            Reason.INTERRUPTED: "interrupted by Ctrl-C; continue with warm_start=True",
            Reason.CALLBACK: "stopped by a callback",
            Reason.STALLED: "rounding stops further progress; raise tol, or scale the features",
        }[self]


class Budget:
    """Limit on the work of a solver. Solvers call ``spent`` between two compiled chunks.

    As a context manager, it turns the first Ctrl-C into a request to stop: the solver returns the best point so far with its gap. A
    second Ctrl-C interrupts immediately. Other threads and programs with their own signal handler are not affected.

    Parameters
    ----------
    max_iter : int or None
        Largest number of passes.
    max_time : float or None
        Largest number of seconds, counted from construction.
    on_progress : callable(n_iter, gap) -> bool, optional
        Called at each check; the solver stops if it returns True.

    Examples
    --------
    >>> from surefit.core.budget import Budget
    >>> budget = Budget(max_iter=10)
    >>> budget.spent(3, gap=0.5) is None, str(budget.spent(10, gap=0.1))
    (True, 'max_iter')
    """

    def __init__(
        self,
        max_iter: int | None = None,
        max_time: float | None = None,
        on_progress: Callable[[int, float], bool] | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_time = max_time
        self.on_progress = on_progress
        self.started = time.perf_counter()
        self.stopped: Reason | None = None  # stops every solver that shares this budget
        self._previous: Any = None
        self._reporting = threading.Lock()

    @property
    def seconds(self) -> float:
        """Seconds since construction."""
        return time.perf_counter() - self.started

    def spent(self, n_iter: int = 0, gap: float = float("nan")) -> Reason | None:
        """Return the reason to stop, or None to continue."""
        if self.stopped is None and self.on_progress is not None:
            with self._reporting:  # callbacks need not be thread-safe
                if self.on_progress(n_iter, gap):
                    self.stopped = Reason.CALLBACK
        if self.stopped is None and self.max_time is not None and self.seconds >= self.max_time:
            self.stopped = Reason.MAX_TIME
        if self.stopped is not None:
            return self.stopped
        if self.max_iter is not None and n_iter >= self.max_iter:
            return Reason.MAX_ITER
        return None

    def __enter__(self) -> Budget:
        if replaceable() is not None:
            self._previous = _signal.signal(_SIGINT, self._on_ctrl_c)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._previous is not None:
            _signal.signal(_SIGINT, self._previous)
            self._previous = None

    def _on_ctrl_c(self, *_: Any) -> None:
        if self.stopped is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        self.stopped = Reason.INTERRUPTED


def replaceable() -> Any:
    """Return the handler of Ctrl-C if this is the main thread and the handler is Python's default, else None."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = _signal.getsignal(_SIGINT)
    return handler if handler in (signal.default_int_handler, leave_while_loading) else None
