r"""Exact arithmetic on floats: every finite float is an integer times a power of two, so sums of products are exact in integers.

A direction is a list of integers ``v = (w, b)``, defined up to a positive factor. If there is an intercept, a data row is extended to
``(x, 1)``. The signs of ``x'w + b`` are determined in three steps, each for the rows that the previous step left open.
The steps use floats with their error radius, floats that are exact because all numbers are small integers, and Python
integers.
"""

from operator import mul
from typing import Any

import numpy as np
from scipy import sparse

UNIT = 2.0**-53
BLOCK = 4096  # rows per block
PRIMES = (2**31 - 1, 2**31 - 19)  # products of two residues fit into 64 bits
EXACT_CELLS = 20_000  # up to this size, all signs are determined by integers alone


def integers(values: np.ndarray) -> tuple[list[int], int]:
    """Return integers ``m`` and an exponent ``e`` with ``values == m * 2**e`` exactly, ``e`` as large as possible.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.integers import integers
    >>> integers(np.array([0.75, -2.0, 0.0]))
    ([3, -8, 0], -2)
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest_bit = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # trailing zeros of the mantissa
    used = whole != 0
    if not used.any():
        return [0] * len(whole), 0
    whole = np.where(used, whole >> np.maximum(lowest_bit, 0), 0)
    exponent = exponent - 53 + lowest_bit
    base = int(exponent[used].min())
    shift = np.where(used, exponent - base, 0)
    return [m << s for m, s in zip(whole.tolist(), shift.tolist(), strict=True)], base


def vector(array: np.ndarray) -> list[int]:
    """Read a witness vector: floats (exactly, up to a power of two) or integers written as text."""
    if array.dtype.kind == "U":
        return [int(text) for text in array.ravel().tolist()]
    return integers(array.ravel())[0]


def signs(X: Any, v: list[int], intercept: bool) -> tuple[np.ndarray, str]:
    """Return the signs of ``X w + b`` for the integer direction ``v = (w, b)`` (without ``b`` if there is no intercept).

    The signs are always exact. The second value states how they were found: ``exact`` if by integers alone (small data), ``enclosed`` if
    some follow from floats with their error radius.
    """
    w, b = (v[:-1], v[-1]) if intercept else (v, 0)
    used = np.flatnonzero([entry != 0 for entry in w])
    if len(used) == 0:
        return np.full(X.shape[0], (b > 0) - (b < 0), dtype=np.int8), "exact"
    if X.shape[0] * len(used) <= EXACT_CELLS:
        return _open_signs(_dense(X[:, used]), [w[j] for j in used], b), "exact"
    size = max(abs(entry) for entry in [*w, b]).bit_length()
    floats = np.array([_ratio(w[j], size) for j in used])
    offset = _ratio(b, size)
    part = X[:, used]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = np.asarray(part @ floats, dtype=np.float64).ravel()
        pieces = (part[start : start + BLOCK] for start in range(0, len(scores), BLOCK))
        sizes = np.concatenate([np.asarray(abs(piece) @ np.abs(floats), dtype=np.float64).ravel() for piece in pieces])
        mid = scores + offset
        # Doubling covers the rounding of v itself. This does not hold for subnormal entries of v, which leave all rows
        # open.
        rad = 2 * (len(used) + 4) * UNIT * sizes + 8 * UNIT * (np.abs(scores) + abs(offset)) + len(used) * 2.0**-1070
        if np.abs(floats).min() < 2.0**-900 or 0 < abs(offset) < 2.0**-900:
            rad = np.full(len(mid), np.inf)
        result = np.where(mid > 0, 1, -1).astype(np.int8)
        settled = np.abs(mid) > rad
    rows = np.flatnonzero(~settled)
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        result[some] = _open_signs(_dense(part[some]), [w[j] for j in used], b)
    return result, "enclosed"


def row_scores(X: Any, v: list[int], intercept: bool) -> list[tuple[int, int]]:
    """Return the exact values of ``X w + b`` as pairs ``(m, e)``, meaning ``m * 2**e``. Intended for few rows."""
    w, b = (v[:-1], v[-1]) if intercept else (v, 0)
    return [_score(row, w, b) for row in _dense(X)]


def lifted_integers(X: Any, t: np.ndarray, intercept: bool) -> tuple[list[list[int]], np.ndarray, list[int]]:
    """Return the rows ``t (x, 1)`` as integers, one exponent per column: ``lifted[i][j] == rows[i][j] * 2**exponents[j]``.

    Columns that are zero in all rows are dropped; the second value lists the remaining columns (the intercept is the last).
    """
    dense = _dense(X) * np.asarray(t, dtype=np.float64)[:, None]
    if intercept:
        dense = np.column_stack([dense, np.asarray(t, dtype=np.float64)])
    kept = np.flatnonzero(np.any(dense != 0, axis=0))
    columns = [integers(dense[:, j]) for j in kept]
    rows = [list(row) for row in zip(*(column for column, _ in columns), strict=True)] if len(kept) else []
    return rows or [[] for _ in range(dense.shape[0])], kept, [exponent for _, exponent in columns]


def rank_at_least(rows: list[list[int]]) -> int:
    """Return a lower bound on the rank over the rationals: the rank modulo a prime (two primes are tried)."""
    return max(_rank_modulo(rows, prime) for prime in PRIMES) if rows and rows[0] else 0


def _rank_modulo(rows: list[list[int]], prime: int) -> int:
    M = np.array([[entry % prime for entry in row] for row in rows], dtype=np.int64)
    rank = 0
    for j in range(M.shape[1]):
        candidates = np.flatnonzero(M[rank:, j])
        if len(candidates) == 0:
            continue
        M[[rank, rank + candidates[0]]] = M[[rank + candidates[0], rank]]
        M[rank] = M[rank] * pow(int(M[rank, j]), -1, prime) % prime
        below = M[rank + 1 :]
        below[:] = (below - below[:, [j]] * M[rank] % prime) % prime
        rank += 1
        if rank == M.shape[0]:
            break
    return rank


def _open_signs(block: np.ndarray, w: list[int], b: int) -> np.ndarray:
    """Return the signs of the rows that floats could not determine."""
    result = np.empty(len(block), dtype=np.int8)
    exact = np.zeros(len(block), dtype=bool)
    if max(abs(entry) for entry in [*w, b]) < 2**53:
        small = np.array(w, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # Integers whose absolute products sum to less than 2^53 are added exactly by floats.
            whole = np.all(block == np.rint(block), axis=1)
            exact = whole & (np.abs(block) @ np.abs(small) + abs(b) < 2.0**52)
        result[exact] = np.sign(block[exact] @ small + b)
    rest = np.flatnonzero(~exact)
    result[rest] = [(value > 0) - (value < 0) for value, _ in (_score(block[i], w, b) for i in rest)]
    return result


def _score(row: np.ndarray, w: list[int], b: int) -> tuple[int, int]:
    whole, exponent = integers(row)
    total = sum(map(mul, whole, w))
    if exponent >= 0:
        return (total << exponent) + b, 0
    return total + (b << -exponent), exponent


def _ratio(entry: int, size: int) -> float:
    """Return ``entry / 2**size`` as a correctly rounded float (both may be too large for a float)."""
    return entry / (1 << size)


def _dense(block: Any) -> np.ndarray:
    return block.toarray().astype(np.float64) if sparse.issparse(block) else np.asarray(block, dtype=np.float64)
