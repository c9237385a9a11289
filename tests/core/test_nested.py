"""Functions that compiled functions call are parts of their callers, and functions of their own when Python calls them."""

import gc
from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from numba.core import event, types
from numba.core.base import BaseContext
from numba.core.errors import TypingError
from numba.core.postproc import PostProcessor
from numba.core.target_extension import jit_registry, target_registry
from numba.extending import overload

from surefit.core.dispatch import generic
from surefit.core.jit import compiled


@compiled
def longest_run(values):
    best, length = 0, 1
    for i in range(1, len(values)):
        length = length + 1 if values[i] == values[i - 1] else 1
        best = max(best, length)
    return best


@compiled
def longest_of(lines):
    best = 0
    for i in range(len(lines)):
        best = max(best, longest_run(lines[i]))
    return best


def test_a_called_function_gives_the_same_result_in_a_caller_and_in_python():
    lines = np.array([[1, 1, 2, 2, 2], [3, 4, 4, 5, 5]])
    assert longest_of(lines) == 3
    assert [longest_run(line) for line in lines] == [3, 2]
    assert longest_of(lines[:, ::-1]) == 3  # other types, after both have been compiled


@compiled
def median_of_three(values):
    return np.sort(values)[1] + np.zeros(3).sum() + np.max(np.arange(3)) - 2.0


@compiled
def absurd(values):
    return np.zeros(values)["name"]


def test_numpy_functions_work_in_compiled_functions():
    assert median_of_three(np.array([3.0, 1.0, 2.0])) == 2.0


def _settings():
    compiler = jit_registry[target_registry["cpu"]], BaseContext.refresh, types.BaseFunction.get_call_type
    return (*compiler, PostProcessor.run, event.start_event, event.end_event, gc.isenabled())


def test_settings_of_numba_and_python_are_restored_after_a_compilation_even_a_failed_one():
    before = _settings()
    assert median_of_three(np.array([3.0, 1.0, 2.0], dtype=np.float32)) == 2.0
    assert _settings() == before
    with pytest.raises(IndexError if config.DISABLE_JIT else TypingError):
        absurd(2)
    assert _settings() == before


class Plain(NamedTuple):
    start: float


@generic
def amount(term, values):
    """Return the sum of the values."""


@amount.register(Plain)
def _(term, values):
    total = term.start
    for i in range(len(values)):
        total += values[i]
    return total


@compiled(relaxed=True)
def in_any_order(term, values):
    return amount(term, values)


@compiled
def in_both_orders(term, values):
    return amount(term, values), in_any_order(term, values), amount(term, values)


def test_a_verb_keeps_its_order_of_summation_if_a_relaxed_part_uses_it_too():
    values = np.random.default_rng(0).standard_normal(10_000)
    first, relaxed, last = in_both_orders(Plain(0.0), values)
    assert first == last == np.add.accumulate(values)[-1]
    assert relaxed == pytest.approx(first, rel=1e-12)


@compiled
def odd(values):
    for value in values:
        if value % 2 == 1:
            yield value


@compiled
def sum_of_odd_and_squares(values):
    total = sum([value**2 for value in values])
    for value in odd(values):
        total += value
    return total


def test_comprehensions_and_generators_work_in_compiled_functions():
    assert sum_of_odd_and_squares(np.arange(6)) == 55 + 9


def late(value):
    return value + 1


@compiled
def uses_late(value):
    return late(value)


def test_an_implementation_that_is_registered_after_a_compilation_is_found():
    assert longest_run(np.array([1, 1, 2], dtype=np.int16)) == 2

    @overload(late)
    def _late(value):
        return lambda value: value + 1

    assert uses_late(1) == 2
