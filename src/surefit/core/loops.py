"""Sorting and copying in compiled loops; Numba needs a second or two to compile the NumPy equivalents in each function."""

from typing import Any

import numpy as np

from surefit.core.jit import compiled

RUN = 16  # length of the runs that insertion sort creates before merging
ONE = np.uint64(1)


@compiled
def ascending(values: Any) -> Any:
    """Return the permutation that sorts ``values`` (float64, no NaN) in ascending order; the sort is stable."""
    n = len(values)
    order, keys = np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        first, p, key = i - i % RUN, i, values[i]
        while p > first and keys[p - 1] > key:
            order[p], keys[p] = order[p - 1], keys[p - 1]
            p -= 1
        order[p], keys[p] = i, key
    if n <= RUN:
        return order
    spare, free, width = np.empty(n, dtype=np.int64), np.empty(n), RUN
    while width < n:
        for start in range(0, n, 2 * width):
            _merge(order, keys, spare, free, start, min(start + width, n), min(start + 2 * width, n))
        order, spare, keys, free = spare, order, free, keys
        width *= 2
    return order


@compiled
def _merge(order: Any, keys: Any, spare: Any, free: Any, start: Any, middle: Any, stop: Any) -> None:
    """Merge two runs; runs of equal length from both ends at once, without unpredictable branches."""
    i, j, p = np.uint64(start), np.uint64(middle), np.uint64(start)
    if middle - start == stop - middle:
        x, y, q = np.uint64(middle), np.uint64(stop), np.uint64(stop)  # one past the next ones
        for _ in range(middle - start):
            a, b = keys[i], keys[j]
            later = np.uint64(b < a)
            free[p], spare[p] = b if b < a else a, order[j] if b < a else order[i]
            i, j, p = i + (ONE - later), j + later, p + ONE
            a, b, q = keys[x - ONE], keys[y - ONE], q - ONE
            later = np.uint64(b < a)
            free[q], spare[q] = a if b < a else b, order[x - ONE] if b < a else order[y - ONE]
            x, y = x - later, y - (ONE - later)
        return
    last, end = np.uint64(middle), np.uint64(stop)
    while p < end:
        first = j >= end or (i < last and keys[i] <= keys[j])
        k = i if first else j
        free[p], spare[p] = keys[k], order[k]
        i, j, p = i + np.uint64(first), j + np.uint64(not first), p + ONE


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
