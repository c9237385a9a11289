r"""Histograms of gradients in integers: sums and differences are exact and independent of their order.

Gradients are rounded to multiples of a step before a tree is grown. A cell has two words of 64 bits. The first is the
sum of the gradients. The second contains the sum of the curvatures in the high bits and the number of rows in the
``count_bits`` low bits. Since nothing overflows, the histogram of a parent minus that of one child is exactly that of
the other child, and results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled


class Scale(NamedTuple):
    """Steps of the rounded gradients and curvatures, and the number of bits for row counts."""

    gradient: float
    curvature: float
    count_bits: int


def choose_scale(n: int, largest_gradient: float, largest_curvature: float) -> Scale:
    """Return the finest steps (powers of two) at which sums over ``n`` rows cannot overflow."""
    count_bits = int(n).bit_length()
    room = 62 - count_bits
    return Scale(
        _step(largest_gradient, min(room, 44)),
        _step(largest_curvature, min(room - count_bits, 32)),
        count_bits,
    )


def _step(largest: float, bits: int) -> float:
    """Return a power of two such that ``largest`` is at most 2^bits steps."""
    return 2.0 ** (math.frexp(largest)[1] - bits) if largest > 0 else 1.0


@compiled
def quantize(g, h, step_g, step_h, count_bits, cells):
    """Round gradients and curvatures into the two words of each row."""
    by_g, by_h = 1.0 / step_g, 1.0 / step_h
    for i in range(len(g)):
        cells[i, 0] = np.int64(np.rint(g[i] * by_g))
        cells[i, 1] = (np.int64(np.rint(h[i] * by_h)) << count_bits) + 1


@compiled
def add_all(words, cells, first, last, histogram):
    """Compute the histogram of all rows, for the groups of four columns from ``first`` to ``last``."""
    for q in range(first, last):
        clear_group(histogram, 4 * q)
    add_range(words, cells, first, last, np.int64(0), words.shape[1], histogram)


@compiled
def add_range(words, cells, first, last, start, stop, histogram):
    """Add the rows from ``start`` to ``stop`` to a histogram."""
    for q in range(first, last):
        for k in range(start, stop):
            _add_four(words[q, k], cells[k, 0], cells[k, 1], histogram, 4 * q)


@compiled
def add_some(by_row, cells, rows, first, last, histogram):
    """Compute the histogram of some rows."""
    for q in range(first, last):
        clear_group(histogram, 4 * q)
    add_rows(by_row, cells, rows, first, last, histogram)


@compiled
def add_rows(by_row, cells, rows, first, last, histogram):
    """Add some rows to a histogram. Rows are copied in small batches, with one cache miss per row."""
    n_groups = last - first
    size = max(64, 16384 // n_groups)
    words, packed = np.empty((n_groups, size), dtype=np.uint32), np.empty((size, 2), dtype=np.int64)
    for start in range(0, len(rows), size):
        count = min(size, len(rows) - start)
        for k in range(count):
            row = rows[start + k]
            packed[k, 0], packed[k, 1] = cells[row, 0], cells[row, 1]
            for q in range(n_groups):
                words[q, k] = by_row[row, first + q]
        for q in range(n_groups):
            for k in range(count):
                _add_four(words[q, k], packed[k, 0], packed[k, 1], histogram, 4 * (first + q))


@compiled
def clear(histogram):
    """Set all cells to zero."""
    for q in range(len(histogram) // 4):
        clear_group(histogram, 4 * q)


@compiled
def clear_group(histogram, j):
    """Set the cells of four columns to zero."""
    for i in range(j, j + 4):
        for b in range(256):
            histogram[i, b, 0] = 0
            histogram[i, b, 1] = 0


@compiled
def _add_four(v, a, c, histogram, j):
    """Add a row to the histograms of four columns from ``j`` on; ``v`` has their codes."""
    b = v & np.uint32(255)
    x, y = histogram[j, b, 0] + a, histogram[j, b, 1] + c
    histogram[j, b, 0] = x
    histogram[j, b, 1] = y
    b = (v >> np.uint32(8)) & np.uint32(255)
    x, y = histogram[j + 1, b, 0] + a, histogram[j + 1, b, 1] + c
    histogram[j + 1, b, 0] = x
    histogram[j + 1, b, 1] = y
    b = (v >> np.uint32(16)) & np.uint32(255)
    x, y = histogram[j + 2, b, 0] + a, histogram[j + 2, b, 1] + c
    histogram[j + 2, b, 0] = x
    histogram[j + 2, b, 1] = y
    b = v >> np.uint32(24)
    x, y = histogram[j + 3, b, 0] + a, histogram[j + 3, b, 1] + c
    histogram[j + 3, b, 0] = x
    histogram[j + 3, b, 1] = y


@compiled
def take_away(whole, part, first, last):
    """Subtract a child from its parent's histogram in place, which gives the other child."""
    for j in range(4 * first, 4 * last):
        for b in range(256):
            whole[j, b, 0] -= part[j, b, 0]
            whole[j, b, 1] -= part[j, b, 1]
