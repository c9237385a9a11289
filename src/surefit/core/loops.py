"""Sorting and copying in compiled loops: NumPy's words for them take Numba a second or two to compile, in every family anew."""

import numpy as np

from surefit.core.jit import compiled

RUN = 16  # values that insertion puts in order before runs are merged


@compiled
def ascending(values):
    """Return the order that sorts ``values`` (float64, no NaN) upwards; equal ones stay in the order they came in."""
    n = len(values)
    order, spare = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        first, p = i - i % RUN, i
        while p > first and values[order[p - 1]] > values[i]:
            order[p] = order[p - 1]
            p -= 1
        order[p] = i
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for p in range(start, stop):
                if j >= stop or (i < middle and values[order[i]] <= values[order[j]]):
                    spare[p] = order[i]
                    i += 1
                else:
                    spare[p] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order


@compiled
def copy_into(goal, source):
    """Copy ``source`` to the first places of ``goal``."""
    for i in range(len(source)):
        goal[i] = source[i]
