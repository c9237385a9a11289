"""Helpers keep their thread for the next call, forget their tasks, and are never needed."""

import gc
import threading
import time
import weakref

import numpy as np
from numba import config

from surefit.core import helpers
from surefit.core.threads import map_blocks


def threads_of(count, n_jobs):
    """The threads that work on ``count`` blocks; each block waits for the others."""
    together = threading.Barrier(count)

    def work(start, stop):
        together.wait(60)
        return threading.get_ident()

    return map_blocks(work, count, 1, n_jobs)


def test_blocks_run_at_the_same_time_in_different_threads():
    assert len(set(threads_of(3, 3))) == 3


def test_a_helper_keeps_its_thread_for_the_next_call(monkeypatch):
    monkeypatch.setattr(helpers, "WAITS", 10**7)
    [helper] = helpers.helpers(1)
    found, done = [], threading.Semaphore(0)
    for _ in range(3):
        helper.post(lambda: (found.append(threading.get_ident()), done.release()))
        assert done.acquire(timeout=60)
    monkeypatch.setattr(helpers, "WAITS", 0)
    helper.post(lambda: done.release())
    assert done.acquire(timeout=60)
    assert len(found) == 3 and threading.get_ident() not in found
    assert config.DISABLE_JIT or len(set(found)) == 1  # a helper without compiled code ends at once


def test_a_helper_that_has_ended_starts_again():
    [helper] = helpers.helpers(1)
    for _ in range(3):
        done = threading.Event()
        helper.post(done.set)
        assert done.wait(60)
        until = time.monotonic() + 60
        while helper._alive.locked() and time.monotonic() < until:
            time.sleep(0.001)
        assert not helper._alive.locked()


def test_tasks_and_their_arrays_are_released():
    array = np.zeros(1000)
    gone = weakref.ref(array)

    def work(start, stop, array=array):
        return array[start:stop].sum()

    assert map_blocks(work, 1000, 100, 2) == [0.0] * 10
    del array, work
    until = time.monotonic() + 60
    while gone() is not None and time.monotonic() < until:
        time.sleep(0.001)
        gc.collect()
    assert gone() is None


def test_without_another_thread_the_caller_does_all(monkeypatch):
    def refuse(*args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(helpers, "start_new_thread", refuse)
    monkeypatch.setattr(helpers, "_TEAM", helpers._Team())
    assert set(map_blocks(lambda start, stop: threading.get_ident(), 10, 1, 4)) == {threading.get_ident()}


def test_a_caller_does_not_wait_for_a_thread_without_a_block(monkeypatch):
    late = threading.Event()
    monkeypatch.setattr(helpers, "_TEAM", helpers._Team())
    [helper] = helpers.helpers(1)
    helper.post(lambda: late.wait(60))  # keeps the thread
    try:
        assert map_blocks(lambda start, stop: start, 10, 1, 2) == list(range(10))
    finally:
        late.set()
