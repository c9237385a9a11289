"""Budgets: when a solver must stop, whoever says so (iterations, the clock, Ctrl-C, a callback)."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a solver stopped. The value is the word in certificates; :meth:`sentence` is for the user."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    MAX_TIME = "max_time"
    INTERRUPTED = "interrupted"
    CALLBACK = "callback"
    STALLED = "stalled"

    def sentence(self) -> str:
        """Say what happened and what to do about it."""
        return {
            Reason.CONVERGED: "the requested gap was reached",
            Reason.MAX_ITER: "max_iter was reached; raise max_iter or tol, or scale the features",
            Reason.MAX_TIME: "max_time was used up; raise max_time or tol, or go on with warm_start=True",
            Reason.INTERRUPTED: "interrupted by Ctrl-C; go on with warm_start=True",
            Reason.CALLBACK: "stopped by a callback",
            Reason.STALLED: "rounding stops further progress; raise tol, or scale the features",
        }[self]


class Budget:
    """How long a solver may work. Every solver asks ``spent`` between two compiled chunks.

    Used as a context manager it turns the first Ctrl-C into a request to stop, so that the best point so far is returned
    with its gap; a second Ctrl-C interrupts at once. Other threads, and programs with their own handler, are left alone.

    Parameters
    ----------
    max_iter : int or None
        Passes allowed.
    max_time : float or None
        Seconds allowed, counted from construction.
    on_progress : callable(n_iter, gap) -> bool, optional
        Called each time; stops the solver by returning True.

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
    ):
        self.max_iter = max_iter
        self.max_time = max_time
        self.on_progress = on_progress
        self.started = time.perf_counter()
        self.stopped: Reason | None = None  # a reason that ends everything this budget is shared by
        self._previous: Any = None
        self._reporting = threading.Lock()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def spent(self, n_iter: int = 0, gap: float = float("nan")) -> Reason | None:
        """Return the reason to stop, or None to go on."""
        if self.stopped is None and self.on_progress is not None:
            with self._reporting:  # callbacks are not made to be called from several threads at once
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
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._previous = signal.signal(signal.SIGINT, self._on_ctrl_c)
        return self

    def __exit__(self, *_) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    def _on_ctrl_c(self, *_) -> None:
        if self.stopped is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        self.stopped = Reason.INTERRUPTED
