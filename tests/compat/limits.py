"""A child process with a limit of CPU seconds, so that the load of the machine does not decide what is cut."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import ceil

WALL = 8.0  # wall-clock seconds per CPU second after which a child that only waits is stopped


def ends_in_time(command: Sequence[str], environment: Mapping[str, str], limit: float) -> bool:
    """Run a command; return whether it ended before it used ``limit`` CPU seconds. Whatever it started ends with it."""
    child = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=partial(_limit_cpu, ceil(limit)),
    )
    try:
        return child.wait(timeout=WALL * limit) not in (-signal.SIGXCPU, -signal.SIGKILL)
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _limit_cpu(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
