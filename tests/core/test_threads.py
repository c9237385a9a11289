"""Fixed blocks, fixed order: the same bits for any number of threads, from any thread, and after a fork."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from surefit.core import threads
from surefit.core.errors import InvalidParameter
from surefit.core.threads import (
    blocks,
    count_threads,
    is_tall,
    map_blocks,
    map_parts,
    one_blas_thread,
    rows_times,
    sum_blocks,
    threads_instead_of_blas,
    tree_sum,
)

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


def test_the_first_of_several_exceptions_is_raised_after_all_threads_have_ended():
    started, ended = [], []
    together = threading.Barrier(2)

    def fails(start, stop):
        started.append(start)
        together.wait(60)
        try:
            raise ValueError(start)
        finally:
            ended.append(start)

    with pytest.raises(ValueError, match="0"):
        map_blocks(fails, 9, 1, 2)
    assert sorted(started) == sorted(ended) == [0, 1]


def test_all_threads_see_the_settings_of_the_caller():
    setting = ContextVar("setting", default="default")
    token = setting.set("of the caller")
    assert set(map_blocks(lambda start, stop: setting.get(), 64, 1, 4)) == {"of the caller"}
    setting.reset(token)


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


def test_threads_that_replace_those_of_blas_are_not_inherited_by_workers():
    outside = threads.blas_threads()
    with threads_instead_of_blas():
        assert blas_threads() == {1} and threads.blas_threads() == outside
        inside = map_blocks(lambda start, stop: threads.blas_threads(), 8, 1, 4)
        with threads_instead_of_blas():
            assert threads.blas_threads() == outside
        assert threads.blas_threads() == outside
    assert set(inside) == {1}
    assert threads.blas_threads() == outside


def test_parts_depend_on_the_shape_alone():
    assert map_parts(lambda start, stop: (start, stop), (1000, 10), 1) == [(0, 1000)]
    parts = map_parts(lambda start, stop: (start, stop), (2**20, 10), 2**17)
    assert parts == blocks(2**20, 2**17)
    assert map_parts(lambda start, stop: (start, stop), (2**20, 10), 2**19) == [(0, 2**20)]


@pytest.mark.parametrize("shape", [(8_000, 10), (8_000, 10, 3), (50, 40, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_rows_do_not_depend_on_threads(monkeypatch, shape, dtype):
    rng = np.random.default_rng(1)
    X, B = rng.standard_normal(shape[:2]).astype(dtype), rng.standard_normal(shape[1:])
    monkeypatch.setattr(threads, "PART", 2**12)
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "blas_threads", lambda count=count: count)
        found.append(rows_times(X, B))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0].dtype == np.float64
    np.testing.assert_allclose(found[0], X.astype(np.float64) @ B, rtol=1e-12, atol=1e-12)


def test_tall_data_have_many_rows_per_column():
    assert is_tall(np.empty((2**18, 10))) and is_tall(np.empty((20_000, 50))) and is_tall(np.empty((30_000, 100)))
    assert not is_tall(np.empty((20_000, 100)))  # products of the columns take long, and threads do not share the rows
    assert not is_tall(np.empty((1000, 10))) and not is_tall(np.empty((2000, 2000))) and not is_tall([[1.0]])


def test_parts_need_fewer_entries_the_more_work_an_entry_takes():
    shape = threads.THREADED // 8, 2
    assert [len(map_parts(lambda start, stop: stop, shape, 1, passes)) for passes in (1, 4)] == [1, threads.PARTS]
