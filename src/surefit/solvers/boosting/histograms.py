r"""Histograms of gradients in integers: sums and differences are exact and independent of their order.

Gradients are rounded to multiples of a step before a tree is grown. A cell has two words of 64 bits. The first is the
sum of the gradients. The second contains the sum of the curvatures in the high bits and the number of rows in the
``count_bits`` low bits. Since nothing overflows, the histogram of a parent minus that of one child is exactly that of
the other child, and results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

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
    own = cells[start:stop]  # from here on, indices are known not to be negative
    for q in range(first, last):
        line = words[q, start:stop]
        for k in range(len(line)):
            _add_four(line[k], own, k, histogram, 4 * q)


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
        own = rows[start : start + size]
        for k in range(len(own)):
            row = own[k]
            codes = by_row[row]
            packed[k, 0], packed[k, 1] = cells[row, 0], cells[row, 1]
            for q in range(n_groups):
                words[q, k] = codes[first + q]
        for q in range(n_groups):
            line = words[q]
            for k in range(len(own)):
                _add_four(line[k], packed, k, histogram, 4 * (first + q))


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


def _add_four(v, cells, k, histogram, j):
    """Add row ``k`` to the histograms of four columns from ``j`` on; ``v`` has their codes."""
    for n in range(4):
        histogram[j + n, (int(v) >> 8 * n) & 255] += cells[k]


def _add_pairs(context: Any, v: Any, cells: Any, k: Any, histogram: Any, j: Any) -> Any:
    """Add both words of a row in one instruction. Indices must be valid, and a column must have 256 cells of two words."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        pair = ir.VectorType(word, 2).as_pointer()
        source, target = (context.make_array(signature.args[n])(context, builder, args[n]).data for n in (1, 3))
        codes, first = builder.zext(args[0], word), builder.shl(args[4], word(9))
        row = builder.load(builder.bitcast(builder.gep(source, [builder.shl(args[2], word(1))]), pair), align=8)
        for n in range(4):
            b = builder.and_(builder.lshr(codes, word(8 * n)), word(255))
            place = builder.add(builder.add(first, word(512 * n)), builder.shl(b, word(1)))
            cell = builder.bitcast(builder.gep(target, [place]), pair)
            builder.store(builder.add(builder.load(cell, align=8), row), cell, align=8)
        return context.get_dummy_value()

    return types.none(types.uint32, cells, types.int64, histogram, types.int64), code


add_pairs: Any = intrinsic(_add_pairs)


@overload(_add_four)
def _compiled_add_four(v, cells, k, histogram, j):
    return lambda v, cells, k, histogram, j: add_pairs(v, cells, k, histogram, j)


@compiled
def add_group(total, part, j):
    """Add a part to a histogram, for four columns."""
    for i in range(j, j + 4):
        for b in range(256):
            total[i, b, 0] += part[i, b, 0]
            total[i, b, 1] += part[i, b, 1]


@compiled
def take_away(whole, part, i):
    """Subtract a child from its parent's histogram in place, for four columns, which gives the other child."""
    for j in range(i, i + 4):
        for b in range(256):
            whole[j, b, 0] -= part[j, b, 0]
            whole[j, b, 1] -= part[j, b, 1]
