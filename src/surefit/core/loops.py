"""Sorting and copying in compiled loops; Numba needs a second or two to compile the NumPy equivalents in each function."""

from typing import Any

import numpy as np

from surefit.core.jit import compiled

RUN = 16  # length of the runs that insertion sort creates before merging


@compiled
def ascending(values: Any) -> Any:
    """Return the permutation that sorts ``values`` (float64, no NaN) in ascending order; the sort is stable."""
    n = len(values)
    order = np.empty(n, dtype=np.int64)
    for i in range(n):
        first, p = i - i % RUN, i
        while p > first and values[order[p - 1]] > values[i]:
            order[p] = order[p - 1]
            p -= 1
        order[p] = i
    if n <= RUN:
        return order
    slack, width = np.empty(n, dtype=np.int64), RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for p in range(start, stop):
                if j >= stop or (i < middle and values[order[i]] <= values[order[j]]):
                    slack[p] = order[i]
                    i += 1
                else:
                    slack[p] = order[j]
                    j += 1
        order, slack = slack, order
        width *= 2
    return order


@compiled
def copy_into(goal: Any, source: Any) -> None:
    """Copy ``source`` to the first entries of ``goal``."""
    for i in range(len(source)):
        goal[i] = source[i]


@compiled
def count_below(values: Any, x: Any) -> Any:
    """Return the number of entries below ``x`` among the first 255 of 256 ascending ``values``, without an unpredictable branch."""
    low = 128 * (values[127] < x)
    low += 64 * (values[low + 63] < x)
    low += 32 * (values[low + 31] < x)
    low += 16 * (values[low + 15] < x)
    low += 8 * (values[low + 7] < x)
    low += 4 * (values[low + 3] < x)
    low += 2 * (values[low + 1] < x)
    return low + (values[low] < x)
