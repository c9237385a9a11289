"""Log message, once per process, if compiling loops takes longer than a second."""

from __future__ import annotations

import logging
import time
from typing import Any

from numba.core import event

LOG = logging.getLogger("surefit")
PATIENCE = 1.0  # seconds of compilation before the notice
NOTICE = "compiling loops for this processor (once; later runs load them from disk) ..."


class CompilationNotice(event.Listener):
    """Event listener that logs one INFO message when the compilation of surefit's functions has taken ``patience`` seconds.

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


def _is_own(event: Any) -> bool:
    module = event.data["dispatcher"].py_func.__module__  # None for a constructor of a jitclass
    return module is not None and module.startswith("surefit.")


event.register("numba:compile", CompilationNotice())  # type: ignore[no-untyped-call]
