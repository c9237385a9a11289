"""Cholesky factorization and inverse of large matrices in fixed blocks that threads share, identical for any number of threads.

SciPy's wrappers of LAPACK hold Python's lock, so the routines are called through the addresses that SciPy exports. Arrays are in the order
of C; LAPACK reads them transposed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.linalg import LinAlgError, cython_blas, cython_lapack

from surefit.core.threads import blas_threads, map_blocks, threads_instead_of_blas

BLOCK = 256  # rows of a block: its factorization, the serial part, takes little time
WIDE = 256  # columns of a part of a block


def factorize(A: np.ndarray, clean: bool = False) -> np.ndarray:
    """Overwrite the upper half of ``A`` by U with ``U' U = A``; only that half is read. Raise ``LinAlgError`` if there is none.

    With ``clean``, the lower half becomes zero.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.tiled_cholesky import factorize
    >>> factorize(np.array([[4.0, 2.0], [2.0, 2.0]]), clean=True)
    array([[2., 1.],
           [0., 1.]])
    """
    n = len(A)
    with threads_instead_of_blas():
        threads = blas_threads()
        for top in range(0, n, BLOCK):
            bottom = min(top + BLOCK, n)
            rows = bottom - top

            def subtract(start: int, stop: int, top: int = top, rows: int = rows) -> None:
                left, width = top + start, stop - start
                _call(A, "gemm", "N", "T", width, rows, top, -1.0, A[:, left:], A[:, top:], 1.0, A[top:, left:])

            def divide(start: int, stop: int, top: int = top, rows: int = rows, bottom: int = bottom) -> None:
                block = A[top:, top:]
                _call(A, "trsm", "R", "L", "T", "N", stop - start, rows, 1.0, block, A[top:, bottom + start :])

            if top:
                map_blocks(subtract, n - top, WIDE, threads)
            if failed := _call(A, "potrf", "L", rows, A[top:, top:]):
                raise LinAlgError(f"the leading block of {top + failed} rows is not positive definite")
            map_blocks(divide, n - bottom, WIDE, threads)
            if clean:
                A[top:bottom, :top] = 0.0
                A[top:bottom, top:bottom] = np.triu(A[top:bottom, top:bottom])
    return A


def invert(U: np.ndarray) -> np.ndarray:
    """Overwrite ``U`` by the inverse of ``U' U``; only upper halves are read and set, and the lower half is used as memory.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.solvers.tiled_cholesky import invert
    >>> np.triu(invert(np.array([[2.0, 1.0], [0.0, 1.0]])))
    array([[ 0.5, -0.5],
           [ 0. ,  1. ]])
    """
    n, count = len(U), -(-len(U) // BLOCK)

    def place(index: int) -> tuple[int, int, np.ndarray]:
        """Return the first row of a block, the row behind it, and the block on the diagonal."""
        top, bottom = index * BLOCK, min(index * BLOCK + BLOCK, n)
        return top, bottom, U[top:bottom, top:bottom]

    def turn(index: int, _: int) -> None:
        """Compute the block on the diagonal of W, the inverse of U'."""
        top, bottom, corner = place(index)
        _call(U, "trtri", "L", "N", bottom - top, corner)
        corner[:] = np.tril(corner.T)

    def divide(index: int, _: int) -> None:
        """Compute the columns of W below a block on the diagonal; the first ones take longest."""
        left, columns = index * BLOCK, len(place(index)[2])
        total = np.empty((BLOCK, columns), dtype=U.dtype)
        for below in range(index + 1, count):
            top, bottom, own = place(below)
            rows = bottom - top
            _call(U, "gemm", "N", "T", columns, rows, top - left, -1.0, U[left:, left:], U[left:, top:], 0.0, total)
            _call(U, "gemm", "N", "N", columns, rows, rows, 1.0, total, own, 0.0, U[top:, left:])

    def multiply(index: int, _: int) -> None:
        """Compute a block of columns of ``W' W`` in the upper half; those in the middle take longest."""
        top, bottom, corner = place(index)
        _call(U, "gemm", "N", "T", bottom - top, top, n - top, 1.0, U[top:, top:], U[top:], 0.0, U[:, top:])
        tall = U[top:, top:bottom].copy()
        np.matmul(tall.T, tall, out=corner)

    with threads_instead_of_blas():
        for step in (turn, divide, multiply):
            map_blocks(step, count, 1, blas_threads())
    return U


def _call(kind: np.ndarray, routine: str, *arguments: str | int | float | np.ndarray) -> int:
    """Call a routine for the type of ``kind``; an array stands for its address and the distance of its rows. Return its ``info``."""
    prefix, number = ("s", ctypes.c_float) if kind.dtype == np.float32 else ("d", ctypes.c_double)
    info, given = ctypes.c_int(), []
    for each in arguments:
        if isinstance(each, np.ndarray):
            given += [ctypes.c_void_p(each.ctypes.data), ctypes.byref(ctypes.c_int(each.strides[0] // each.itemsize))]
        elif isinstance(each, str):
            given.append(ctypes.c_char_p(each.encode()))
        else:
            given.append(ctypes.byref(ctypes.c_int(each) if isinstance(each, int) else number(each)))
    _routine(prefix + routine)(*given, ctypes.byref(info))
    return info.value


@cache
def _routine(name: str) -> Callable[..., None]:
    """Return the function at the address of a routine of BLAS or LAPACK; it releases Python's lock."""
    module = cython_blas if name in cython_blas.__pyx_capi__ else cython_lapack
    capsule, python = module.__pyx_capi__[name], ctypes.pythonapi
    python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule)))
