"""Functions that compiled functions call are parts of their callers, and functions of their own when Python calls them."""

import gc

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError
from numba.core.target_extension import jit_registry, target_registry

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


def test_settings_of_numba_and_python_are_restored_after_a_compilation_even_a_failed_one():
    before = jit_registry[target_registry["cpu"]]
    assert median_of_three(np.array([3.0, 1.0, 2.0], dtype=np.float32)) == 2.0
    with pytest.raises(IndexError if config.DISABLE_JIT else TypingError):
        absurd(2)
    assert jit_registry[target_registry["cpu"]] is before
    assert gc.isenabled()
