"""Handling of Ctrl-C while packages load and inside other libraries."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SENTENCE = "surefit: interrupted; no file was left half-written."
EXIT_CODE = 130  # the exit code that shells report after Ctrl-C


def loading(frame: FrameType | None) -> bool:
    """Return whether a package is being imported; interrupting an import leaves a partial module or a misleading error."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def leave_while_loading(_: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C: exit with one sentence while packages load, raise KeyboardInterrupt otherwise."""
    if loading(frame):
        os.write(sys.stderr.fileno(), f"{SENTENCE}\n".encode())
        os._exit(EXIT_CODE)
    raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, for blocks that would leave another library in an unusable state."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    presses: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: presses.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        for number in presses:
            handler(number, sys._getframe())


class as_interrupts:
    """Raise KeyboardInterrupt again if another library, interrupted by Ctrl-C, raised an exception of its own instead."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        cause: BaseException | None = error if isinstance(error, Exception) else None
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            cause = cause.__cause__ or cause.__context__
