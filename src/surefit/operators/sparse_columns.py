from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import THREADED, blocks, map_parts
from surefit.operators.base import (
    add_columns,
    column_axpy,
    column_dot,
    column_statistics,
    correlations,
    dimensions,
    gram_rows,
    rows_per_block,
    scratch,
)

LEAST = 1 << 16  # entries of a part that threads share
BLOCK_ENTRIES = 1 << 17  # 1 MB: rows of the block are read again for every stored entry, so it should stay in cache
DENSE_FROM = 0.25  # stored fraction from which a column is treated as dense


class SparseColumns(NamedTuple):
    """Sparse matrix stored by columns (CSC), with ascending row numbers and no duplicates.

    Centered columns are never formed: the contribution of entries that are not stored follows from the mean. Columns that store every row
    are treated as dense. Loops are compiled without relaxed arithmetic, because vectorized gathers are slower.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    n_rows: int


@dimensions.register(SparseColumns)
def _(design):
    return design.n_rows, len(design.indptr) - 1


@column_statistics.register(SparseColumns)
def _(design, y, weights, center):
    d = len(design.indptr) - 1
    found, weighted_y = [np.empty(d) for _ in range(3)], weights * y
    _map_columns(
        design, np.arange(d), lambda first, last: _statistics(design, weighted_y, weights, center, first, last, *found)
    )
    return tuple(found)


def _map_columns(design: SparseColumns, columns: np.ndarray, part: Callable[[int, int], None]) -> None:
    """Run ``part(first, last)`` on ranges of ``columns``, which threads share by the number of their entries."""
    if len(design.data) < THREADED or not len(columns):
        part(0, len(columns))
        return
    ends = np.cumsum(design.indptr[columns + 1] - design.indptr[columns])

    def of_entries(start: int, stop: int) -> None:
        part(*np.searchsorted(ends, (start, stop if stop < ends[-1] else stop + 1)))

    map_parts(of_entries, (int(ends[-1]), 1), LEAST)


@compiled
def _statistics(design, weighted_y, weights, center, first, last, means, norms, products):
    all_weight, all_y = 0.0, 0.0
    for i in range(design.n_rows):
        all_weight += weights[i]
        all_y += weighted_y[i]
    for j in range(first, last):
        start, stop = design.indptr[j], design.indptr[j + 1]
        full = stop - start == design.n_rows
        mean = 0.0
        if center and stop > start:
            origin = np.float64(design.data[start]) if full else 0.0  # the mean of a constant column is exact
            for entry in range(start, stop):
                mean += weights[np.uint32(design.indices[entry])] * (design.data[entry] - origin)
            mean += origin
        square, product, weight, y = 0.0, 0.0, 0.0, 0.0
        for entry in range(start, stop):
            row = np.uint32(design.indices[entry])
            centered = design.data[entry] - mean
            square += weights[row] * centered * centered
            product += weighted_y[row] * centered
            weight += weights[row]
            y += weighted_y[row]
        if not full:
            square += max(all_weight - weight, 0.0) * mean * mean
            product -= (all_y - y) * mean
        means[j] = mean
        norms[j] = np.sqrt(square)
        products[j] = product


@correlations.register(SparseColumns)
def _(design, v, means, scales, columns, out):
    total = np.sum(v)
    _map_columns(
        design, columns, lambda first, last: _correlations(design, v, total, means, scales, columns[first:last], out)
    )


@compiled
def _correlations(design, v, total, means, scales, columns, out):
    for j in columns:
        out[j] = _dot(design, j, means[j], v, total) * scales[j]


@compiled
def _dot(design, j, shift, v, total):
    start, stop = design.indptr[j], design.indptr[j + 1]
    dot = 0.0
    if stop - start == design.n_rows:
        for entry in range(start, stop):
            dot += (design.data[entry] - shift) * v[np.uint32(design.indices[entry])]
        return dot
    for entry in range(start, stop):
        dot += design.data[entry] * v[np.uint32(design.indices[entry])]
    return dot - shift * total


@column_dot.register(SparseColumns)
def _(design, j, shift, v, total):
    return _dot(design, j, shift, v, total)


@add_columns.register(SparseColumns)
def _(design, columns, coefs, means, out):
    _add_columns(design, columns, coefs, means, out)


@compiled
def _add_columns(design, columns, coefs, means, out):
    constant = 0.0
    for k in range(len(columns)):
        j = columns[k]
        start, stop = design.indptr[j], design.indptr[j + 1]
        shift = means[j] if stop - start == design.n_rows else 0.0
        for entry in range(start, stop):
            out[np.uint32(design.indices[entry])] += coefs[k] * (design.data[entry] - shift)
        constant -= coefs[k] * (means[j] - shift)
    if constant != 0.0:
        for i in range(design.n_rows):
            out[i] += constant


@column_axpy.register(SparseColumns)
def _(design, j, c, shift, weights, v):
    for entry in range(design.indptr[j], design.indptr[j + 1]):
        i = design.indices[entry]
        v[i] += c * weights[i] * design.data[entry]
    return -c * shift


@gram_rows.register(SparseColumns)
def _(design, columns, first, weights, means, scales, between_blocks, out=None):
    roots = np.sqrt(weights)
    new = columns[first:]
    dense = design.indptr[new + 1] - design.indptr[new] >= DENSE_FROM * design.n_rows
    full, thin = np.flatnonzero(dense), np.flatnonzero(~dense)
    full_rows, thin_rows = np.zeros((len(full), len(columns))), np.zeros((len(thin), len(columns)))
    for start, stop in blocks(design.n_rows, rows_per_block(len(columns), BLOCK_ENTRIES)):
        block = scratch(stop - start, len(columns))
        _gather(design, columns, start, stop, roots, means, scales, block)
        full_rows += block[:, first + full].T @ block
        _add_stored_rows(design, new[thin], start, stop, roots, scales, block, thin_rows)
        between_blocks()
    out = np.empty((len(new), len(columns))) if out is None else out
    out[full], out[thin] = full_rows, thin_rows
    return out


@compiled
def _gather(design, columns, start, stop, roots, means, scales, block):
    unstored = -means[columns] * scales[columns]
    for i in range(start, stop):
        for k in range(len(columns)):
            block[i - start, k] = unstored[k] * roots[i]
    for k in range(len(columns)):
        j = columns[k]
        mean, scale = means[j], scales[j]
        for entry in range(*_entries_between(design, j, start, stop)):
            i = design.indices[entry]
            block[i - start, k] = (design.data[entry] - mean) * scale * roots[i]


@compiled
def _add_stored_rows(design, columns, start, stop, roots, scales, block, total):
    # sum_i x_ij B_i over stored entries is the product with the *centered* column too: the rows of B sum to zero
    for k in range(len(columns)):
        j, row = columns[k], total[k]
        for entry in range(*_entries_between(design, j, start, stop)):
            i = design.indices[entry]
            value = design.data[entry] * scales[j] * roots[i]
            for other in range(len(row)):
                row[other] += value * block[i - start, other]


@compiled
def _entries_between(design, j, start, stop):
    low, high = design.indptr[j], design.indptr[j + 1]
    rows = design.indices[low:high]
    return low + np.searchsorted(rows, start), low + np.searchsorted(rows, stop)
