r"""Optimal partition of points on a line by dynamic programming.

On a line, some optimal partition consists of intervals. With :math:`D_c(j)` the smallest cost of the first :math:`j` values in :math:`c`
intervals, :math:`D_c(j) = \min_i D_{c-1}(i) + \mathrm{cost}(i, j)`. The cost satisfies the quadrangle inequality, so the best :math:`i`
does not decrease with :math:`j`, and divide and conquer needs :math:`O(m \log m)` costs per cluster for :math:`m` distinct values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled

UNIT = 2.0**-53


class LinePartition(NamedTuple):
    """Optimal partition on a line."""

    value: float  # smallest sum of w (x - mean)^2
    rounding: float  # bound on the rounding error of ``value``
    means: np.ndarray  # (clusters,) increasing


def best_on_line(x: np.ndarray, weights: np.ndarray, k: int) -> LinePartition:
    """Return the optimal partition of the numbers ``x`` into at most ``k`` clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.clustering.line import best_on_line
    >>> best_on_line(np.array([0.0, 7.0, 8.0, 9.0, 14.0]), np.ones(5), 2).means
    array([0. , 9.5])
    """
    values, mass = _distinct(np.asarray(x, dtype=np.float64), weights)
    total = math.fsum(mass)
    center = math.fsum(mass * values) / total
    prefix = _prefix_sums(values - center, mass)
    k = min(k, len(values))
    value, cuts = _fill(prefix, k)
    squares = prefix[2, -1]
    rounding = 16 * UNIT * float(squares) * k * (2 * math.log2(len(values) + 1) + 3)
    sums = np.diff(prefix[:, cuts], axis=1)
    return LinePartition(float(value), rounding, sums[1] / sums[0] + center)


def _distinct(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    used = weights > 0
    values, place = np.unique(x[used], return_inverse=True)
    return values, np.bincount(place, weights=weights[used])


@compiled
def _prefix_sums(values, mass):
    """Return prefix sums of w, w x and w x^2, with compensated summation (Neumaier)."""
    m = len(values)
    out = np.zeros((3, m + 1))
    for row in range(3):
        total, correction = 0.0, 0.0
        for i in range(m):
            term = mass[i] if row == 0 else mass[i] * values[i] if row == 1 else mass[i] * values[i] * values[i]
            new = total + term
            correction += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
            total = new
            out[row, i + 1] = total + correction
    return out


@compiled
def _cost(prefix, i, j):
    weight = prefix[0, j] - prefix[0, i]
    first = prefix[1, j] - prefix[1, i]
    return max(prefix[2, j] - prefix[2, i] - first * first / weight, 0.0)


@compiled
def _fill(prefix, k):
    """Return the smallest cost with k intervals and the borders of the intervals; ties go to the leftmost cut."""
    m = prefix.shape[1] - 1
    before, after = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    for j in range(1, m + 1):
        before[j] = _cost(prefix, 0, j)
    table = np.zeros((k, m + 1), dtype=np.int32)
    stack = np.empty((2 * 64, 4), dtype=np.int64)  # recursive halving: never deeper than the number of bits of m
    for c in range(1, k):
        after[:] = np.inf
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = c + 1, m, c, m - 1
        depth = 1
        while depth > 0:
            depth -= 1
            low, high, left, right = stack[depth]
            if low > high:
                continue
            j = (low + high) // 2
            best, cut = np.inf, left
            for i in range(max(left, c), min(right, j - 1) + 1):
                value = before[i] + _cost(prefix, i, j)
                if value < best:
                    best, cut = value, i
            after[j], table[c, j] = best, cut
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, j - 1, left, cut
            stack[depth + 1, 0], stack[depth + 1, 1] = j + 1, high
            stack[depth + 1, 2], stack[depth + 1, 3] = cut, right
            depth += 2
        before, after = after, before
    cuts = np.empty(k + 1, dtype=np.int64)
    cuts[k] = m
    for c in range(k - 1, 0, -1):
        cuts[c] = table[c, cuts[c + 1]]
    cuts[0] = 0
    return before[m], cuts
