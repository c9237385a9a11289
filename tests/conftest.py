"""What every test may rely on, however the run was started."""

import signal

import pytest
from hypothesis import settings

# The same examples on every run: a failure can be repeated, and no run fails by chance.
settings.register_profile("surefit", derandomize=True, deadline=None)
settings.load_profile("surefit")


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """Undo what a shell does to jobs in the background: they start with Ctrl-C ignored, and the tests of it would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
