"""Functions that compiled functions call are parts of their callers, and functions of their own when Python calls them."""

import numpy as np

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
