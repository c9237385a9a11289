from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_parts
from surefit.operators.base import (
    add_columns,
    column_axpy,
    column_dot,
    column_statistics,
    correlations,
    dimensions,
    gram_rows,
    scratch,
)
from surefit.operators.dense_gram import gram_rows_by_blocks

LEAST = 64  # columns of a part that threads share


class DenseColumns(NamedTuple):
    """Dense matrix stored by columns (Fortran order): every verb reads whole columns."""

    values: np.ndarray


@dimensions.register(DenseColumns)
def _(design):
    return design.values.shape


@column_statistics.register(DenseColumns)
def _(design, y, weights, center):
    n, d = design.values.shape
    found, weighted_y = [np.empty(d) for _ in range(3)], weights * y

    def part(first, last):
        _statistics(design.values[:, first:last], weighted_y, weights, center, *(out[first:last] for out in found))

    map_parts(part, (d, n), LEAST)
    return tuple(found)


@compiled(relaxed=True)
def _statistics(x, weighted_y, weights, center, means, norms, products):
    n_rows, n_columns = x.shape
    for j in range(n_columns):
        mean = 0.0
        if center:  # from the first entry, so that the mean of a constant column is exact
            origin = np.float64(x[0, j])
            for i in range(n_rows):
                mean += weights[i] * (x[i, j] - origin)
            mean += origin
        square = 0.0
        product = 0.0
        for i in range(n_rows):  # the column is still in cache
            centered = x[i, j] - mean
            square += weights[i] * centered * centered
            product += weighted_y[i] * centered
        means[j] = mean
        norms[j] = np.sqrt(square)
        products[j] = product


@correlations.register(DenseColumns)
def _(design, v, means, scales, columns, out):
    def part(first, last):
        _correlations(design.values, v, means, scales, columns[first:last], out)

    map_parts(part, (len(columns), len(v)), LEAST)


@compiled(relaxed=True)
def _correlations(x, v, means, scales, columns, out):
    for j in columns:
        mean = means[j]
        total = 0.0
        for i in range(x.shape[0]):
            total += (x[i, j] - mean) * v[i]
        out[j] = total * scales[j]


@add_columns.register(DenseColumns)
def _(design, columns, coefs, means, out):
    _add_columns(design.values, columns, coefs, means, out)


@compiled(relaxed=True)
def _add_columns(x, columns, coefs, means, out):
    for k in range(len(columns)):
        j = columns[k]
        mean, coef = means[j], coefs[k]
        for i in range(x.shape[0]):
            out[i] += coef * (x[i, j] - mean)


@gram_rows.register(DenseColumns)
def _(design, columns, first, weights, means, scales, between_blocks, out=None):
    roots = np.sqrt(weights)

    def gather(start, stop):
        block = scratch(len(columns), stop - start)
        _gather(design.values, columns, start, roots, means, scales, block)
        return block

    out = np.empty((len(columns) - first, len(columns))) if out is None else out
    gram_rows_by_blocks(gather, len(roots), first, out, between_blocks)
    return out


@compiled(relaxed=True)
def _gather(x, columns, start, roots, means, scales, block):
    for k in range(len(columns)):
        j = columns[k]
        mean, scale = means[j], scales[j]
        for i in range(block.shape[1]):
            block[k, i] = (x[start + i, j] - mean) * scale * roots[start + i]


@column_dot.register(DenseColumns)
def _(design, j, shift, v, total):
    x = design.values
    dot = 0.0
    for i in range(x.shape[0]):
        dot += (x[i, j] - shift) * v[i]
    return dot


@column_axpy.register(DenseColumns)
def _(design, j, c, shift, weights, v):
    x = design.values
    for i in range(x.shape[0]):
        v[i] += c * weights[i] * (x[i, j] - shift)
    return 0.0
