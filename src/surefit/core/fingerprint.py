r"""Fingerprints: is this the data the certificate speaks of?

A matrix is digested at memory speed by a keyed bilinear sum of mixed words,
:math:`h = \sum_{ij} k_i \, k'_j \, \mathrm{mix}(\mathrm{bits}(x_{ij})) \bmod 2^{64}`, whose value does not depend on memory
order or on dense against sparse storage (``mix(0) = 0``), then sealed by SHA-256 together with shape and dtype. It tells
*other* data from *this* data; it is not meant to resist a forger, who gains nothing: every claim is recomputed anyway.
"""

from hashlib import sha256

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def fingerprint(array) -> str:
    """Digest of an array or sparse matrix: same values, shape and dtype give the same text.

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
    with np.errstate(over="ignore"):
        if sparse.issparse(array):
            digest = _of_sparse(array)
        else:
            array = np.asarray(array)
            matrix = array.reshape(len(array), -1) if array.ndim != 1 else array.reshape(-1, 1)
            rows, columns = _keys(matrix.shape[0], 1), _keys(matrix.shape[1], 2)
            if matrix.flags.f_contiguous:
                digest = _dense_digest(_words(matrix.T), columns, rows)
            else:
                digest = _dense_digest(_words(np.ascontiguousarray(matrix)), rows, columns)
    kind = (
        array.dtype.str.lstrip("<>|=") if array.dtype.kind in "fiub" else "text"
    )  # objects or fixed width: same labels
    header = f"{kind}{tuple(array.shape)}{int(digest):016x}"
    return sha256(header.encode()).hexdigest()[:32]


def _of_sparse(matrix):
    """Digest stored entries where they lie: the sum is the same by rows and by columns."""
    rows, columns = _keys(matrix.shape[0], 1), _keys(matrix.shape[1], 2)
    if matrix.format == "csr":
        return _sparse_digest(_words(matrix.data), matrix.indices, matrix.indptr, columns, rows)
    stored = matrix.tocsc()
    return _sparse_digest(_words(stored.data), stored.indices, stored.indptr, rows, columns)


def _keys(n: int, seed: int) -> np.ndarray:
    """Odd 64-bit keys, one an index, from a counter: no state, same on every machine."""
    z = (np.arange(n, dtype=np.uint64) + np.uint64(seed * 0x632BE59BD9B4E019 % 2**64)) * _GOLDEN
    z = (z ^ (z >> np.uint64(29))) * _MIX
    return (z ^ (z >> _HALF)) | np.uint64(1)


def _words(values: np.ndarray) -> np.ndarray:
    """The bits of each value as an unsigned word, the same on every machine."""
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
def _dense_digest(words, slow_keys, fast_keys):
    total = np.uint64(0)
    for i in range(words.shape[0]):
        part = np.uint64(0)
        for j in range(words.shape[1]):
            mixed = np.uint64(words[i, j]) * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[j]
        total += part * slow_keys[i]
    return total


@compiled
def _sparse_digest(words, indices, indptr, fast_keys, slow_keys):
    total = np.uint64(0)
    for j in range(len(indptr) - 1):
        part = np.uint64(0)
        for k in range(indptr[j], indptr[j + 1]):
            mixed = np.uint64(words[k]) * _GOLDEN
            part += (mixed ^ (mixed >> _HALF)) * fast_keys[indices[k]]
        total += part * slow_keys[j]
    return total
