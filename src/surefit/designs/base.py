"""The verbs of a design: what a solver may ask of a matrix of features, however it is stored.

A design is a NamedTuple around the user's own array: nothing is copied, converted or centred in place. Verbs that need
centred or scaled columns take the means and the scales as arguments and see

    (x_ij - means[j]) * scales[j],

with the subtraction done before any product, so that a column far from the origin keeps its digits. Values may be float32
or float64; sums are float64. ``v`` always has one entry a row, ``columns`` is an array of column numbers.
"""

from __future__ import annotations

import threading

import numpy as np

from surefit.core.dispatch import generic


@generic
def dimensions(design):
    """Return (number of rows, number of columns)."""


@generic
def column_statistics(design, y, weights, centre):
    """Return means, root mean squares of the centred columns, and their mean products with ``y``.

    ``weights`` sum to one and ``y`` has weighted mean zero if ``centre``; else all means are zero. One reading of the data.
    """


@generic
def correlations(design, v, means, scales, columns, out):
    """Set ``out[j] = scales[j] * sum_i (x_ij - means[j]) v_i`` for each ``j`` in ``columns``."""


@generic
def add_columns(design, columns, coefs, means, out):
    """Add ``sum_k coefs[k] (x_ij - means[j])``, ``j = columns[k]``, to each ``out[i]``."""


@generic
def gram_rows(design, columns, first, weights, means, scales, between_blocks, out=None):
    """Return the Gram matrix of ``columns[first:]`` with all ``columns``, both centred and scaled, rows weighted.

    Works through blocks of rows: memory grows with the number of columns asked for, never with the rows of the design.
    ``between_blocks()`` is called after each block, so that a long computation can be left by raising. The matrix is
    written to ``out`` if given.
    """


@generic
def column_dot(design, j, shift, v, total):
    """Return ``sum_i (x_ij - shift) v_i``, given ``total = sum(v)``. For compiled loops."""


@generic
def column_axpy(design, j, c, shift, weights, v):
    """Add ``c weights[i] (x_ij - shift)`` to ``v``, except for a constant times ``weights``; return that constant.

    Dense columns leave nothing out and return zero; sparse ones change stored rows only and leave out ``-c shift``.
    """


def times(design, coef) -> np.ndarray:
    """Return ``X coef``, touching only columns with a non-zero coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.designs import as_design, times
    >>> times(as_design(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([0.0, 0.5]))
    array([1., 2.])
    """
    n_rows, n_columns = dimensions(design)
    coef = np.asarray(coef, dtype=np.float64)
    used = np.flatnonzero(coef)
    out = np.zeros(n_rows)
    add_columns(design, used, coef[used], np.zeros(n_columns), out)
    return out


def rows_a_block(n_columns: int, entries: int) -> int:
    """Rows of a block with about ``entries`` numbers: fixed by the shape, so that sums have one order."""
    return max(64, entries // max(n_columns, 1))


_of_this_thread = threading.local()


def scratch(n_rows: int, n_columns: int) -> np.ndarray:
    """Return uninitialised memory that the next call in this thread may hand out again.

    Touching fresh memory costs more than filling a block of it, and blocks are small (:func:`rows_a_block`).
    """
    size = n_rows * n_columns
    if len(getattr(_of_this_thread, "memory", ())) < size:
        _of_this_thread.memory = np.empty(size)
    return _of_this_thread.memory[:size].reshape(n_rows, n_columns)
