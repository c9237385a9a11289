"""Rows of a data matrix for online loops: one at a time, dense or sparse, without copies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from scipy import sparse

from surefit.core.dispatch import generic
from surefit.core.jit import compiled

LINE = 64  # bytes of a cache line


class WholeRows(NamedTuple):
    """Dense matrix stored by rows."""

    values: np.ndarray


class StoredRows(NamedTuple):
    """Stored entries of a sparse matrix, row by row (CSR)."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray


@generic
def dot_row(rows, i, w):
    """Return ``x_i . w``."""


@generic
def add_row(rows, i, step, w):
    """Add ``step x_i`` to ``w``."""


@generic
def fetch_row(rows, i):
    """Prefetch row ``i``."""


def as_rows(X) -> Any:
    """Return the rows of ``X`` in place: C order for dense, CSR for sparse."""
    if sparse.issparse(X):
        X = X.tocsr()
        return StoredRows(X.data, X.indices, X.indptr)
    return WholeRows(np.ascontiguousarray(X))


def aligned_copy(w: np.ndarray) -> np.ndarray:
    """Copy a vector to the start of a cache line, so that no load crosses two lines (measured: 33 instead of 35 ms)."""
    room = np.empty(len(w) + LINE // 8)
    first = (-room.ctypes.data % LINE) // 8
    room[first : first + len(w)] = w
    return room[first : first + len(w)]


@dot_row.register(WholeRows)
def _(rows, i, w):
    total = 0.0
    for j in range(len(w)):
        total += w[j] * rows.values[i, j]
    return total


@add_row.register(WholeRows)
def _(rows, i, step, w):
    for j in range(len(w)):
        w[j] += step * rows.values[i, j]


@fetch_row.register(WholeRows)
def _(rows, i):
    entries = LINE // rows.values.itemsize
    for j in range(0, rows.values.shape[1], entries):
        fetch(rows.values, i, j)


@dot_row.register(StoredRows)
def _(rows, i, w):
    total = 0.0
    for k in range(rows.starts[i], rows.starts[i + 1]):
        total += w[rows.columns[k]] * rows.values[k]
    return total


@add_row.register(StoredRows)
def _(rows, i, step, w):
    for k in range(rows.starts[i], rows.starts[i + 1]):
        w[rows.columns[k]] += step * rows.values[k]


@fetch_row.register(StoredRows)
def _(rows, i):
    pass


# --- the two statements of the innermost loop -------------------------------------------------------------------------
# They are inlined into the calling loop, unlike a generic function, which is vectorized separately before it is
# inlined. The results are the same, and the loop is a fifth faster.


def score_row(rows, i, w):
    """Return ``x_i . w``, summed in any order."""
    return dot_row(rows, i, w)


@overload(score_row, inline="always")
def _score_row_compiled(rows, i, w):
    def score_whole(rows, i, w):
        total = 0.0
        for j in range(len(w)):
            total += w[j] * rows.values[i, j]
        return total

    def score_stored(rows, i, w):
        total = 0.0
        for k in range(rows.starts[i], rows.starts[i + 1]):
            total += w[rows.columns[k]] * rows.values[k]
        return total

    return score_whole if rows.instance_class is WholeRows else score_stored


def shift_row(rows, i, sign, w):
    """Add ``sign x_i`` to ``w`` for a sign of -1 or 1; the products are exact, so the compiler flags of the caller do not matter."""
    add_row(rows, i, sign, w)


@overload(shift_row, inline="always")
def _shift_row_compiled(rows, i, sign, w):
    def shift_whole(rows, i, sign, w):
        for j in range(len(w)):
            w[j] += sign * rows.values[i, j]

    def shift_stored(rows, i, sign, w):
        for k in range(rows.starts[i], rows.starts[i + 1]):
            w[rows.columns[k]] += sign * rows.values[k]

    return shift_whole if rows.instance_class is WholeRows else shift_stored


def narrow_vectors():
    """Request 256-bit vectors in the calling function; a no-op in plain Python.

    Weights that were just stored are read again immediately. Processors forward such a store to the load only if it is
    not wider than 256 bits. With 512 bits, the loop waits for the cache after every mistake (measured: 39 instead of 32
    ms).
    """


@overload(narrow_vectors, inline="always")
def _narrow_vectors_compiled():
    def narrow():
        _prefer_256_bits()  # type: ignore[call-arg]

    return narrow


@intrinsic
def _prefer_256_bits(typing_context):
    def generate(context, builder, signature, arguments):
        # llvmlite prints attributes unchanged but accepts known names only, hence the method of its base class.
        set.add(builder.function.attributes, '"prefer-vector-width"="256"')
        return context.get_dummy_value()

    return types.void(), generate


@compiled
def ieee_dot(rows, i, w):
    """Return ``x_i . w`` summed from left to right in IEEE arithmetic: bitwise the same on every machine, dense or sparse."""
    return dot_row(rows, i, w)


@compiled
def ieee_add(rows, i, step, w):
    """Add ``step x_i`` to ``w`` with a rounded product and a rounded sum."""
    add_row(rows, i, step, w)


@compiled
def ieee_shift(b, step, bias_step):
    """Return ``b + step bias_step`` with a rounded product and a rounded sum."""
    return b + step * bias_step


@compiled(relaxed=True)
def square_rows(rows, out):
    """Set ``out[i] = |x_i|^2``; an entry that is not finite makes its square not finite."""
    for i in range(len(out)):
        out[i] = square_row(rows, i)


@generic
def square_row(rows, i):
    """Return ``|x_i|^2``."""


@square_row.register(WholeRows)
def _(rows, i):
    total = 0.0
    for j in range(rows.values.shape[1]):
        value = np.float64(rows.values[i, j])
        total += value * value
    return total


@square_row.register(StoredRows)
def _(rows, i):
    total = 0.0
    for k in range(rows.starts[i], rows.starts[i + 1]):
        value = np.float64(rows.values[k])
        total += value * value
    return total


def fetch(array, i, j):
    """Prefetch ``array[i, j]``; a no-op in plain Python."""


@overload(fetch)
def _fetch_compiled(array, i, j):
    def ask(array, i, j):
        _prefetch(array, np.int64(i), np.int64(j))  # type: ignore[call-arg]

    return ask


@intrinsic
def _prefetch(typing_context, array, i, j):
    """Emit a prefetch instruction into the L2 cache, because L1 has too few slots for a dozen rows.

    Numba has no other interface to it.
    """

    def generate(context, builder, signature, arguments):
        matrix = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, signature.args[0], matrix, list(arguments[1:]))
        flag, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(place, byte), flag(0), flag(2), flag(1)])  # read, level 2, data
        return context.get_dummy_value()

    return types.void(array, i, j), generate
