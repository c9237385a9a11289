"""Calls in a process of their own, each with a limit of CPU time; a process that ended is replaced.

A compiled loop does not return to the interpreter, so no handler written in Python could stop it. The timer's signal therefore keeps its
default action, which ends the process.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

PATIENCE = 20.0  # seconds on the clock per second of CPU time before a process that does not answer counts as blocked


class Ended(Exception):
    """The process ended, or was ended, before it answered; the message says why."""


def _serve(work: Callable[[int], Any], limit: float, connection: Connection) -> None:
    os.setsid()  # Ctrl-C in a terminal is for the parent, which ends this process
    connection.send("ready")  # modules are imported: patience begins with the call
    while True:
        try:
            k = connection.recv()
        except EOFError:  # the parent has gone
            return
        signal.setitimer(signal.ITIMER_PROF, limit)
        answer = work(k)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        connection.send(answer)


class Isolated:
    """Call ``work`` with a number in another process, with at most ``limit`` seconds of CPU time per call."""

    def __init__(self, work: Callable[[int], Any], limit: float) -> None:
        self.work, self.limit = work, limit
        self._connection: Connection | None = None
        self._process: Any = None

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, k: int) -> Any:
        """Return ``work(k)``; raise ``Ended`` if the process ends first or does not answer."""
        if self._process is None:
            self._start()
        assert self._connection is not None
        try:
            self._connection.send(k)
            if self._connection.poll(PATIENCE * self.limit):
                return self._connection.recv()
        except (EOFError, OSError):  # the process has ended
            self._process.join()
        code = self._process.exitcode
        self.close()
        if code is None:
            raise Ended(f"no answer within {PATIENCE * self.limit:g} s")
        if code == -signal.SIGPROF:
            raise Ended(f"more than {self.limit:g} s of CPU time")
        raise Ended(f"the process ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}")

    def close(self) -> None:
        """End the process, if there is one; the next call starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
        self._process = self._connection = None

    def _start(self) -> None:
        context = get_context("spawn")  # a fork would copy the state of compiled code and threads
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.work, self.limit, theirs))
        self._process.start()
        theirs.close()
        self._connection.recv()
