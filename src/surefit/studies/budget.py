"""Time budget of a comparison: remaining time, estimated times of families, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from surefit.core.budget import replaceable
from surefit.core.guards.interrupts import loading
from surefit.studies.families import Family, Size

MOST_MEMORY = 1 << 30  # memory limit of one model, in bytes
PATIENCE = 0.05  # seconds after which Ctrl-C is tried again while a package loads
REMEMBERED: set[str] = set()  # modules whose loops this process has compiled or loaded


class Clock:
    """Elapsed seconds of a study, and the speed of this machine relative to the machine of the cost estimates."""

    def __init__(self, max_time: float):
        self.max_time = max_time
        self.started = time.perf_counter()
        self.speed = 1.0  # observed divided by estimated seconds, smoothed

    def restart(self) -> None:
        """Restart the clock."""
        self.started = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """Remaining seconds."""
        return self.max_time - self.spent

    def observe(self, seconds: float, estimate: float) -> None:
        """Update the speed from a fit; only fits that take long enough are informative."""
        if seconds > 0.05:
            self.speed = min(20.0, max(0.3, 0.7 * self.speed + 0.3 * seconds / max(estimate, 1e-3)))

    def estimate(self, family: Family, size: Size, fits: float) -> float:
        """Return the estimated seconds of some fits of a family, including compilation if it is needed."""
        return self.speed * fits * family.seconds(size) + max(self.speed, 1.0) * compiling(family)


def compiling(family: Family) -> float:
    """Return the compilation time of the first fit in seconds; 0 if the machine code is in memory or on disk."""
    if not family.loops or family.loops in REMEMBERED or _is_on_disk(family.loops):
        return 0.0
    return family.compiling


def _is_on_disk(module: str) -> bool:
    """Return whether Numba's index has current machine code of a module's loops on disk."""
    loops = [value for value in vars(import_module(module)).values() if hasattr(value, "_cache")]
    for loop in loops:
        try:
            if loop._cache._cache_file._load_index():
                return True
        except Exception:  # Numba's internals may change; without them the estimate is conservative
            return False
    return not loops


class Interrupts:
    """Counts presses of Ctrl-C while active; each press raises KeyboardInterrupt in the main thread, as usual."""

    def __init__(self) -> None:
        self.pressed = 0
        self._shields = 0  # if positive, presses are only recorded

    def _heard(self, number: int, frame: Any) -> None:
        if loading(frame):  # wait for the import to end
            threading.Timer(PATIENCE, signal.raise_signal, (number,)).start()
            return
        self.pressed += 1
        self._shields -= 1
        if self._shields < 0:
            raise KeyboardInterrupt

    @contextmanager
    def heard(self) -> Iterator[Interrupts]:
        """Install the handler; programs with their own handler, and other threads, are not affected."""
        before = replaceable()
        if before is not None:
            signal.signal(signal.SIGINT, self._heard)
        try:
            yield self
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Protect the final steps: the first press is only recorded, the second one raises."""
        self._shields = 1
        try:
            yield
        finally:
            self._shields = 0


def memory_reason(family: Family, size: Size) -> str | None:
    """Return the reason why a family needs too much memory, or None."""
    needed = family.bytes(size)
    if needed <= MOST_MEMORY:
        return None
    return f"would need about {needed / 1e9:.1f} GB of memory"
