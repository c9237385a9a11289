"""What every test may rely on, however the run was started."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """Undo what a shell does to jobs in the background: they start with Ctrl-C ignored, and the tests of it would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
