r"""Fingerprints that identify data sets.

A matrix is hashed at memory speed by a keyed bilinear sum of mixed words, :math:`h = \sum_{ij} k_i \, k'_j \,
\mathrm{mix}(\mathrm{bits}(x_{ij})) \bmod 2^{64}`. The value does not depend on the memory order or on dense or sparse storage (``mix(0) =
0``). SHA-256 then hashes it together with shape and dtype. The fingerprint detects different data. It does not resist
deliberate collisions, but these are harmless because every claim is recomputed.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, wraps
from hashlib import sha256
from typing import Any, TypeVar, cast

import numpy as np

from surefit.core.jit import compiled, quietly
from surefit.core.storage import is_sparse
from surefit.core.threads import blas_threads, map_blocks

F = TypeVar("F", bound=Callable[..., Any])

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF, _SHIFT, _ODD = np.uint64(32), np.uint64(29), np.uint64(1)
_FLOATS = (np.dtype("float32"), np.dtype("float64"))
_LARGE = 1 << 16  # size in bytes from which a fingerprint is cached
_FEW = 1024  # number of keys up to which they are cached
_THREADED = 1 << 22  # number of entries from which threads take less time than their start
_PARTS = 8
_MANY = 500_000  # number of entries up to which a fingerprint may never be needed, because the proof waits for a reader
_seen: ContextVar[dict[Any, Any] | None] = ContextVar("_seen", default=None)
_rows: ContextVar[dict[Any, Any] | None] = ContextVar("_rows", default=None)


class _Within:
    """Context in which a variable has another value; generators of contexts take several times as long, in each fit."""

    __slots__ = "token", "value", "variable"

    def __init__(self, variable: ContextVar[Any], value: Any) -> None:
        self.variable, self.value = variable, value

    def __enter__(self) -> None:
        self.token = self.variable.set(self.value)

    def __exit__(self, *error: Any) -> None:
        self.variable.reset(self.token)


def remembering(function: F) -> F:
    """Wrap ``function`` so that the fingerprint of an array is computed only once in it; the array must not change meanwhile."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with _Within(_seen, {} if _seen.get() is None else _seen.get()):
            return function(*args, **kwargs)

    return cast(F, wrapped)


def one_pass() -> _Within:
    """Return a context in which the pass of :func:`largest_entry` also computes the fingerprint for the certificate of a fit."""
    return _Within(_rows, {})


def fingerprint(array: Any) -> str:
    """Return the digest of an array or sparse matrix: equal values, shape and dtype give the same text.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.fingerprint import fingerprint
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(X) == fingerprint(np.asfortranarray(X))
    True
    >>> fingerprint(X) == fingerprint(X + 1e-16 * (X == 5) * 8)
    False
    """
    if type(array) is np.ndarray and array.nbytes < _LARGE:
        return _measured(array)[0]
    seen, rows, key = _seen.get(), _rows.get(), _key(array)
    if rows is not None and key in rows:
        return rows[key][0]
    if seen is None or key is None:
        return _measured(array)[0]
    if key not in seen:
        seen[key] = _measured(array)[0], array  # keeps the array alive as long as its address is a key
    return seen[key][0]


def largest_entry(X: Any) -> float:
    """Return the largest absolute value of the rows of a fit, an array or sparse matrix of floats.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.fingerprint import largest_entry
    >>> largest_entry(np.array([[1.0, -3.0], [2.5, 0.0]]))
    3.0
    """
    rows, key = _rows.get(), _key(X)
    if rows is None or key is None:
        values = X.data if is_sparse(X) else X
        return float(max(values.max(), -values.min())) if values.size else 0.0
    if key not in rows:
        text, top = _measured(X)
        rows[key] = text, _as_float(top, X.dtype), X
    return rows[key][1]


def largest_of_many(X: Any) -> float | None:
    """Return the largest absolute value of many floats in a fit, whose certificate needs the fingerprint of that pass; else None."""
    return None if _rows.get() is None or X.dtype not in _FLOATS or X.size <= _MANY else largest_entry(X)


def _key(array: Any) -> Any:
    """Return the identity of a large array or sparse matrix; None for others."""
    parts = (array.data, array.indices, array.indptr) if hasattr(array, "indptr") else (array,)
    if not all(isinstance(part, np.ndarray) for part in parts) or parts[0].nbytes < _LARGE or parts[0].dtype.hasobject:
        return None
    places = tuple((part.__array_interface__["data"][0], part.shape, part.strides, part.dtype.str) for part in parts)
    return getattr(array, "format", "dense"), array.shape, places


def data_fingerprint(X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> dict[str, Any]:
    """Return the fingerprints that identify the data of a certificate; a one-dimensional sample consists of strings."""
    if hasattr(X, "fingerprints"):  # rows in partitions
        return X.fingerprints()
    strings = X.ndim == 1
    n_rows, n_columns = (len(X), 1) if strings else X.shape
    return {
        **({"elements": "strings"} if strings else {}),
        "X": fingerprint(X),
        "y": None if y is None else fingerprint(np.asarray(y)),
        "sample_weight": None if sample_weight is None else fingerprint(sample_weight),
        **({} if offset is None else {"offset": fingerprint(offset)}),
        "n_rows": int(n_rows),
        "n_columns": int(n_columns),
    }


def _measured(array: Any) -> tuple[str, int]:
    """Return the fingerprint, and the largest word without its sign bit."""
    array = array if is_sparse(array) else np.asarray(array)
    digest, top = _digest_and_top(array)
    return text_of(array.dtype, array.shape, digest), top


def _as_float(word: int, dtype: Any) -> float:
    """Return the float with these bits; NaN for other types."""
    if dtype not in _FLOATS:
        return np.nan
    return float(np.array([word]).astype(f"u{dtype.itemsize}").view(dtype)[0])


def digest_of(array: Any, start: int = 0) -> int:
    """Return the keyed sum over rows from index ``start``; sums of consecutive parts add up modulo 2**64."""
    return _digest_and_top(array, start)[0]


def _digest_and_top(array: Any, start: int = 0) -> tuple[int, int]:
    """Return the keyed sum, and the largest word without its sign bit, which is the largest absolute value of floats."""
    with quietly(over="ignore"):
        if is_sparse(array):
            found = _of_sparse(array)
        else:
            array = np.asarray(array)
            matrix = array.reshape(len(array), -1) if array.ndim != 1 else array.reshape(-1, 1)
            rows, columns = _keys(matrix.shape[0], 1, start), _keys(matrix.shape[1], 2)
            if matrix.flags.f_contiguous:
                found = _in_threads(_words(matrix.T), columns, rows, _magnitude(array))
            else:
                found = _in_threads(_words(np.ascontiguousarray(matrix)), rows, columns, _magnitude(array))
        return int(found[0]), int(found[1])


def _in_threads(words: np.ndarray, slow_keys: np.ndarray, fast_keys: np.ndarray, magnitude: Any) -> tuple[Any, Any]:
    """Return the result of :func:`_dense_digest`, computed in threads for large arrays."""

    def part(first: int, last: int) -> tuple[Any, Any]:
        return _dense_digest(words[first:last], slow_keys[first:last], fast_keys, magnitude)

    return _sum_of_parts(part, len(words), words.size)


def _sum_of_parts(part: Callable[[int, int], tuple[Any, Any]], n: int, size: int) -> tuple[Any, Any]:
    """Return the sum and the largest word of ``part(first, last)`` over parts of ``n`` rows, which add up modulo 2**64 in any order."""
    if size < _THREADED:
        return part(0, n)

    def quiet(first: int, last: int) -> tuple[Any, Any]:
        with quietly(over="ignore"):  # each thread has an error state of its own
            return part(first, last)

    found = map_blocks(quiet, n, -(-n // _PARTS), blas_threads())
    return sum(int(digest) for digest, _ in found) % 2**64, max(int(top) for _, top in found)


def _magnitude(array: Any) -> Any:
    """Return the mask of all bits but the sign."""
    return np.uint64(2**31 - 1 if array.dtype.itemsize == 4 else 2**63 - 1)


def text_of(dtype: Any, shape: tuple[int, ...], digest: int) -> str:
    """Return the fingerprint of an array with this dtype, shape and keyed sum."""
    kind = (
        dtype.str.lstrip("<>|=") if dtype.kind in "fiub" else "text"
    )  # object and fixed-width dtypes give the same digest
    header = f"{kind}{tuple(shape)}{digest % 2**64:016x}"
    return sha256(header.encode()).hexdigest()[:32]


def _of_sparse(matrix: Any) -> Any:
    """Hash the stored entries in place; the sum is the same for CSR and CSC."""
    rows, columns = _keys(matrix.shape[0], 1), _keys(matrix.shape[1], 2)
    stored, slow, fast = (matrix, rows, columns) if matrix.format == "csr" else (matrix.tocsc(), columns, rows)
    words, magnitude = _words(stored.data), _magnitude(matrix)

    def part(first: int, last: int) -> tuple[Any, Any]:
        return _sparse_digest(words, stored.indices, stored.indptr[first : last + 1], fast, slow[first:last], magnitude)

    return _sum_of_parts(part, len(slow), words.size)


def _keys(n: int, seed: int, start: int = 0) -> np.ndarray:
    """Return odd 64-bit keys, one per index from ``start``, from a counter: stateless and the same on every machine."""
    return _few_keys(n, seed) if n <= _FEW and start == 0 else _new_keys(n, seed, start)


@lru_cache(64)
def _few_keys(n: int, seed: int) -> np.ndarray:
    """Return cached keys, since small arrays are hashed faster than their keys are computed; callers only read them."""
    return _new_keys(n, seed, 0)


def _new_keys(n: int, seed: int, start: int) -> np.ndarray:
    keys = np.arange(n, dtype=np.uint64)  # array arithmetic is modulo 2^64
    keys += np.uint64((seed * 0x632BE59BD9B4E019 + start) % 2**64)
    keys *= _GOLDEN
    keys ^= keys >> _SHIFT
    keys *= _MIX
    keys ^= keys >> _HALF
    keys |= _ODD
    return keys


def _words(values: np.ndarray) -> np.ndarray:
    """Return the bits of each value as unsigned words, the same on every machine."""
    if values.dtype == _FLOATS[1]:
        return values.view(np.uint64)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.dtype.itemsize == 8 and values.dtype.kind in "fiu":
        return values.view(np.uint64)
    if values.dtype.kind == "f" and values.dtype.itemsize == 4:
        return values.view(np.uint32)
    if values.dtype.kind in "biu":
        return values.astype(np.int64).view(np.uint64)
    texts = [sha256(str(v).encode()).digest()[:8] for v in values.ravel()]
    return np.frombuffer(b"".join(texts), dtype="<u8").astype(np.uint64).reshape(values.shape)


@compiled
def _dense_digest(words: Any, slow_keys: Any, fast_keys: Any, magnitude: Any) -> Any:
    total, top = np.uint64(0), np.uint64(0)
    for i in range(words.shape[0]):
        part = np.uint64(0)
        for j in range(words.shape[1]):
            word = np.uint64(words[i, j])
            mixed = word * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[j]
            top = max(top, word & magnitude)
        total += part * slow_keys[i]
    return total, top


@compiled
def _sparse_digest(words: Any, indices: Any, indptr: Any, fast_keys: Any, slow_keys: Any, magnitude: Any) -> Any:
    total, top = np.uint64(0), np.uint64(0)
    for j in range(len(indptr) - 1):
        part = np.uint64(0)
        for k in range(indptr[j], indptr[j + 1]):
            index = indices[k]
            if index < 0:  # never; this exit keeps the compiler from vector gathers of the keys, which take longer
                break
            word = np.uint64(words[k])
            mixed = word * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[np.uint64(index)]
            top = max(top, word & magnitude)
        total += part * slow_keys[j]
    return total, top
