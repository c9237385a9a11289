from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
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


class DenseRows(NamedTuple):
    """Dense matrix stored by rows (C order): passes over many columns proceed row by row, in memory order."""

    values: np.ndarray


@dimensions.register(DenseRows)
def _(design):
    return design.values.shape


@column_statistics.register(DenseRows)
def _(design, y, weights, center):
    means, norms, products = (np.zeros(design.values.shape[1]) for _ in range(3))
    _statistics(design.values, weights * y, weights, center, means, norms, products)
    return means, norms, products


@compiled(relaxed=True)
def _statistics(x, weighted_y, weights, center, means, norms, products):
    n_rows, n_columns = x.shape
    if center:  # from the first row, so that the mean of a constant column is exact
        for i in range(n_rows):
            weight = weights[i]
            for j in range(n_columns):
                means[j] += weight * (x[i, j] - np.float64(x[0, j]))
        for j in range(n_columns):
            means[j] += x[0, j]
    for i in range(n_rows):
        weight, target = weights[i], weighted_y[i]
        for j in range(n_columns):
            centered = x[i, j] - means[j]
            norms[j] += weight * centered * centered
            products[j] += target * centered
    for j in range(n_columns):
        norms[j] = np.sqrt(norms[j])


@correlations.register(DenseRows)
def _(design, v, means, scales, columns, out):
    sums = np.zeros(len(columns))
    if len(columns) == design.values.shape[1]:  # all columns, in any order: read rows contiguously
        _sum_whole_rows(design.values, v, means, sums)
        out[:] = sums * scales
    else:
        _sum_parts_of_rows(design.values, v, means[columns], columns, sums)
        out[columns] = sums * scales[columns]


@compiled(relaxed=True)
def _sum_whole_rows(x, v, means, sums):
    # four rows at a time, so that sums are read and written once per four rows
    n_rows, n_columns = x.shape
    whole = n_rows - n_rows % 4
    for i in range(0, whole, 4):
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(n_columns):
            mean = means[j]
            sums[j] += (
                (x[i, j] - mean) * v0
                + (x[i + 1, j] - mean) * v1
                + (x[i + 2, j] - mean) * v2
                + (x[i + 3, j] - mean) * v3
            )
    for i in range(whole, n_rows):
        for j in range(n_columns):
            sums[j] += (x[i, j] - means[j]) * v[i]


@compiled(relaxed=True)
def _sum_parts_of_rows(x, v, means, columns, sums):
    for i in range(x.shape[0]):
        for k in range(len(columns)):
            sums[k] += (x[i, columns[k]] - means[k]) * v[i]


@add_columns.register(DenseRows)
def _(design, columns, coefs, means, out):
    _add_columns(design.values, columns, coefs, means[columns], out)


@compiled(relaxed=True)
def _add_columns(x, columns, coefs, means, out):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(len(columns)):
            total += coefs[k] * (x[i, columns[k]] - means[k])
        out[i] += total


@gram_rows.register(DenseRows)
def _(design, columns, first, weights, means, scales, between_blocks, out=None):
    roots = np.sqrt(weights)

    def gather(start, stop):
        block = scratch(stop - start, len(columns))
        _gather(design.values, columns, start, roots, means[columns], scales[columns], block)
        return block.T

    out = np.empty((len(columns) - first, len(columns))) if out is None else out
    gram_rows_by_blocks(gather, len(roots), first, out, between_blocks)
    return out


@compiled(relaxed=True)
def _gather(x, columns, start, roots, means, scales, block):
    for i in range(block.shape[0]):
        root = roots[start + i]
        for k in range(len(columns)):
            block[i, k] = (x[start + i, columns[k]] - means[k]) * scales[k] * root


@column_dot.register(DenseRows)
def _(design, j, shift, v, total):
    x = design.values
    dot = 0.0
    for i in range(x.shape[0]):
        dot += (x[i, j] - shift) * v[i]
    return dot


@column_axpy.register(DenseRows)
def _(design, j, c, shift, weights, v):
    x = design.values
    for i in range(x.shape[0]):
        v[i] += c * weights[i] * (x[i, j] - shift)
    return 0.0
