"""Verbs of a design matrix: the functions that solvers use, independent of storage.

A design is a NamedTuple around the user's array: nothing is copied, converted or centered in place. Verbs that need centered or scaled
columns take the means and the scales as arguments and use

    (x_ij - means[j]) * scales[j],

where the subtraction precedes any product, so that a column far from the origin loses no accuracy. Values may be float32 or float64; sums
are float64. ``v`` always has one entry per row, ``columns`` is an array of column numbers.
"""

from __future__ import annotations

import threading

import numpy as np

from surefit.core.dispatch import generic


@generic
def dimensions(design):
    """Return (number of rows, number of columns)."""


@generic
def column_statistics(design, y, weights, center):
    """Return means, root mean squares of the centered columns, and their mean products with ``y``.

    ``weights`` sum to one. If ``center``, ``y`` has weighted mean zero; otherwise all means are zero. Reads the data once.
    """


@generic
def correlations(design, v, means, scales, columns, out):
    """Set ``out[j] = scales[j] * sum_i (x_ij - means[j]) v_i`` for each ``j`` in ``columns``."""


@generic
def add_columns(design, columns, coefs, means, out):
    """Add ``sum_k coefs[k] (x_ij - means[j])``, ``j = columns[k]``, to each ``out[i]``."""


@generic
def gram_rows(design, columns, first, weights, means, scales, between_blocks, out=None):
    """Return the Gram matrix of ``columns[first:]`` with all ``columns``, both centered and scaled, rows weighted.

    The data are processed in blocks of rows: memory grows with the number of columns requested, never with the number of rows.
    ``between_blocks()`` is called after each block, so that a long computation can be interrupted by raising an exception. The matrix is
    written to ``out`` if given.
    """


@generic
def column_dot(design, j, shift, v, total):
    """Return ``sum_i (x_ij - shift) v_i``, given ``total = sum(v)``. For compiled loops."""


@generic
def column_axpy(design, j, c, shift, weights, v):
    """Add ``c weights[i] (x_ij - shift)`` to ``v``, up to a multiple of ``weights``; return the missing factor.

    Dense columns add all terms and return zero; sparse columns change only stored rows and return ``-c shift``.
    """


def times(design, coef) -> np.ndarray:
    """Return ``X coef``, reading only columns with a non-zero coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.operators import as_design, times
    >>> times(as_design(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([0.0, 0.5]))
    array([1., 2.])
    """
    n_rows, n_columns = dimensions(design)
    coef = np.asarray(coef, dtype=np.float64)
    used = np.flatnonzero(coef)
    out = np.zeros(n_rows)
    add_columns(design, used, coef[used], np.zeros(n_columns), out)
    return out


def rows_per_block(n_columns: int, entries: int) -> int:
    """Return the number of rows of a block with about ``entries`` numbers. It depends on the shape alone, so sums have a fixed order."""
    return max(64, entries // max(n_columns, 1))


_of_this_thread = threading.local()


def scratch(n_rows: int, n_columns: int) -> np.ndarray:
    """Return uninitialized memory that the next call in this thread may reuse.

    Allocating memory costs more than filling a block, and blocks are small (:func:`rows_per_block`).
    """
    size = n_rows * n_columns
    if len(getattr(_of_this_thread, "memory", ())) < size:
        _of_this_thread.memory = np.empty(size)
    return _of_this_thread.memory[:size].reshape(n_rows, n_columns)
