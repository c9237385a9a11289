"""Budgets: iterations, the clock, callbacks, and Ctrl-C that asks once and insists twice."""

import os
import signal
import threading
import time

import pytest

from surefit.core.budget import Budget, Reason


def test_every_limit_has_its_reason():
    assert Budget().spent(10**9, 0.0) is None
    assert Budget(max_iter=3).spent(3) is Reason.MAX_ITER
    assert Budget(max_iter=3).spent(2) is None
    late = Budget(max_time=0.01)
    time.sleep(0.02)
    assert late.spent(1) is Reason.MAX_TIME
    assert Budget(on_progress=lambda n, gap: gap < 0.5).spent(1, 0.4) is Reason.CALLBACK


def test_max_iter_ends_one_solution_but_the_clock_ends_all_that_share_the_budget():
    budget = Budget(max_iter=3, on_progress=lambda n, gap: n == 7)
    assert budget.spent(5) is Reason.MAX_ITER
    assert budget.stopped is None and budget.spent(1) is None
    assert budget.spent(7) is Reason.CALLBACK
    assert budget.spent(1) is Reason.CALLBACK


def test_ctrl_c_is_a_request_first_and_an_interrupt_then():
    with Budget() as budget:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert budget.spent(1) is Reason.INTERRUPTED
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_foreign_handlers_and_other_threads_are_left_alone():
    def own(*_):
        pass

    previous = signal.signal(signal.SIGINT, own)
    try:
        with Budget():
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, previous)
    seen = []

    def in_thread():
        with Budget():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_every_reason_has_a_sentence():
    assert all(len(reason.sentence()) > 10 for reason in Reason)
