"""Eight threads, fork, spawn and joblib's workers: no deadlock, and the same bits as one fit alone. Memory stays flat."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest
from tests.reliability.concurrent import NAMES, all_bits, bits
from tests.reliability.leaks import MOST_GROWTH, growth

SECONDS = 600  # a deadlock ends the test


@pytest.fixture(scope="module")
def alone():
    return all_bits()


def test_eight_threads(alone):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(bits, NAMES * 8))
    assert found == alone * 8


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python warns that forking a threaded process may deadlock
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(alone, method):
    few = 2 if method == "spawn" else len(NAMES)  # a fresh process loads everything
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(all_bits, [NAMES[:few]] * 2).get(SECONDS) == [alone[:few]] * 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(alone, backend):
    with joblib.parallel_backend(backend, n_jobs=2):
        found = joblib.Parallel(timeout=SECONDS)(joblib.delayed(bits)(name) for name in NAMES)
    assert found == alone


def test_two_thousand_fits_leak_nothing():
    # A new process: the heap of this one has been fragmented by other tests.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        grown, objects = pool.apply_async(growth, (2000,)).get(SECONDS)
    assert grown < MOST_GROWTH and objects < 1000
