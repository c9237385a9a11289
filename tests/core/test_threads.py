"""Fixed blocks, fixed order: the same bits for any number of threads, from any thread, and after a fork."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from surefit.core.errors import InvalidParameter
from surefit.core.threads import blocks, count_threads, map_blocks, one_blas_thread, sum_blocks, tree_sum

DATA = np.random.default_rng(0).standard_normal(100_003) * 1e3


def block_sum(n_jobs):
    return sum_blocks(lambda start, stop: DATA[start:stop].sum(), len(DATA), 1000, n_jobs)


def test_blocks_cover_the_range_once():
    pieces = blocks(10, 4)
    assert pieces == [(0, 4), (4, 8), (8, 10)]
    assert blocks(0, 4) == []


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_same_bits_for_any_number_of_threads(n_jobs):
    assert block_sum(n_jobs).hex() == block_sum(1).hex()


def test_results_come_in_the_order_of_the_blocks():
    assert map_blocks(lambda start, stop: (start, stop), 9, 2, 4) == blocks(9, 2)


def test_callable_from_several_threads_at_once():
    with ThreadPoolExecutor(4) as pool:
        results = set(pool.map(lambda _: block_sum(2).hex(), range(16)))
    assert results == {block_sum(1).hex()}


def _in_child(queue):
    queue.put(block_sum(2).hex())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python warns that forking a threaded process may deadlock
def test_usable_after_fork():
    expected = block_sum(2).hex()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)


def test_an_exception_in_a_block_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        map_blocks(lambda start, stop: 1 // (start - 2), 4, 2, 2)


def test_tree_sum_is_exact_where_a_running_sum_is_not():
    parts = [1.0] + [2.0**-53] * 8
    assert np.cumsum(parts)[-1] == 1.0  # sum() itself compensates since Python 3.12
    assert tree_sum([0.0, *parts[1:], 1.0]) > 1.0


def test_n_jobs_is_read_like_scikit_learn():
    assert count_threads(None) == 1 and count_threads(3) == 3 and count_threads(-1) >= 1
    with pytest.raises(InvalidParameter, match="n_jobs must be None, an integer >= 1"):
        count_threads(0)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_until_the_last_caller_leaves():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before
