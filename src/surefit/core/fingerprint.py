r"""Fingerprints that identify data sets.

A matrix is hashed at memory speed by a keyed bilinear sum of mixed words, :math:`h = \sum_{ij} k_i \, k'_j \,
\mathrm{mix}(\mathrm{bits}(x_{ij})) \bmod 2^{64}`. The value does not depend on the memory order or on dense or sparse storage (``mix(0) =
0``). SHA-256 then hashes it together with shape and dtype. The fingerprint detects different data. It does not resist
deliberate collisions, but these are harmless because every claim is recomputed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF, _SHIFT, _ODD = np.uint64(32), np.uint64(29), np.uint64(1)
_LARGE = 1 << 16  # size in bytes from which a fingerprint is cached
_seen: ContextVar[dict[Any, Any] | None] = ContextVar("_seen", default=None)


@contextmanager
def remembered() -> Iterator[None]:
    """Compute the fingerprint of an array only once within this context; the array must not change in it."""
    token = _seen.set({} if _seen.get() is None else _seen.get())
    try:
        yield
    finally:
        _seen.reset(token)


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
    seen = _seen.get()
    if seen is None or not isinstance(array, np.ndarray) or array.nbytes < _LARGE or array.dtype.hasobject:
        return _fingerprint(array)
    key = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
    if key not in seen:
        seen[key] = _fingerprint(array), array  # keeps the array alive as long as its address is a key
    return seen[key][0]


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


def _fingerprint(array: Any) -> str:
    return text_of(
        array.dtype if sparse.issparse(array) else np.asarray(array).dtype, np.shape(array), digest_of(array)
    )


def digest_of(array: Any, start: int = 0) -> int:
    """Return the keyed sum over rows from index ``start``; sums of consecutive parts add up modulo 2**64."""
    with np.errstate(over="ignore"):
        if sparse.issparse(array):
            return int(_of_sparse(array))
        array = np.asarray(array)
        matrix = array.reshape(len(array), -1) if array.ndim != 1 else array.reshape(-1, 1)
        rows, columns = _keys(matrix.shape[0], 1, start), _keys(matrix.shape[1], 2)
        if matrix.flags.f_contiguous:
            return int(_dense_digest(_words(matrix.T), columns, rows))
        return int(_dense_digest(_words(np.ascontiguousarray(matrix)), rows, columns))


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
    if matrix.format == "csr":
        return _sparse_digest(_words(matrix.data), matrix.indices, matrix.indptr, columns, rows)
    stored = matrix.tocsc()
    return _sparse_digest(_words(stored.data), stored.indices, stored.indptr, rows, columns)


def _keys(n: int, seed: int, start: int = 0) -> np.ndarray:
    """Return odd 64-bit keys, one per index from ``start``, from a counter: stateless and the same on every machine."""
    return _counted_keys(n, np.uint64((seed * 0x632BE59BD9B4E019 + start) % 2**64))


@compiled
def _counted_keys(n: Any, start: Any) -> np.ndarray:
    keys = np.empty(n, dtype=np.uint64)
    for i in range(n):
        z = (np.uint64(i) + start) * _GOLDEN
        z = (z ^ (z >> _SHIFT)) * _MIX
        keys[i] = (z ^ (z >> _HALF)) | _ODD
    return keys


def _words(values: np.ndarray) -> np.ndarray:
    """Return the bits of each value as unsigned words, the same on every machine."""
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
def _dense_digest(words: Any, slow_keys: Any, fast_keys: Any) -> Any:
    total = np.uint64(0)
    for i in range(words.shape[0]):
        part = np.uint64(0)
        for j in range(words.shape[1]):
            mixed = np.uint64(words[i, j]) * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[j]
        total += part * slow_keys[i]
    return total


@compiled
def _sparse_digest(words: Any, indices: Any, indptr: Any, fast_keys: Any, slow_keys: Any) -> Any:
    total = np.uint64(0)
    for j in range(len(indptr) - 1):
        part = np.uint64(0)
        for k in range(indptr[j], indptr[j + 1]):
            mixed = np.uint64(words[k]) * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[indices[k]]
        total += part * slow_keys[j]
    return total
