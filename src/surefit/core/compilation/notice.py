"""Message, once per process, if compiling loops takes longer than a second.

It is logged; if logging is not set up, a person at a terminal reads it on standard error.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from numba.core import event

LOG = logging.getLogger("surefit")
PATIENCE = 1.0  # seconds of compilation before the notice
NOTICE = "compiling loops for this processor (once; later runs load them from disk) ..."


class CompilationNotice(event.Listener):
    """Event listener that gives one INFO message when the compilation of surefit's functions has taken ``patience`` seconds.

    Only compilation counts; functions loaded from disk cause no event.
    """

    def __init__(self, patience: float = PATIENCE):
        self.patience = patience
        self.said = False
        self._depth = 0  # compiling a function compiles those that it calls
        self._began = self._spent = 0.0

    def on_start(self, event: Any) -> None:
        """Record the start time of the outermost compilation."""
        if _is_own(event):
            self._began = time.perf_counter() if self._depth == 0 else self._began
            self._depth += 1
            self._say(time.perf_counter() - self._began)

    def on_end(self, event: Any) -> None:
        """Add the time of the outermost compilation."""
        if _is_own(event) and self._depth > 0:
            self._depth -= 1
            running = time.perf_counter() - self._began
            self._say(running)
            self._spent += 0.0 if self._depth else running

    def _say(self, running: float) -> None:
        if not self.said and self._spent + running > self.patience:
            self.said = True
            LOG.info(NOTICE)
            if LOG.level == logging.NOTSET and not LOG.isEnabledFor(logging.INFO) and _at_a_terminal():
                print(f"surefit: {NOTICE}", file=sys.stderr)


def _at_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # None without a console


def _is_own(event: Any) -> bool:
    module = event.data["dispatcher"].py_func.__module__  # None for a constructor of a jitclass
    return module is not None and module.startswith("surefit.")


event.register("numba:compile", CompilationNotice())  # type: ignore[no-untyped-call]
