"""Handling of Ctrl-C while packages load."""

from __future__ import annotations

import os
import sys
from types import FrameType

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
