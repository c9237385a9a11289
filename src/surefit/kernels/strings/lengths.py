"""Length scales: one for all columns, or one per column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.validation import Rule


def _is_lengths(value) -> bool:
    try:
        lengths = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return lengths.ndim <= 1 and lengths.size > 0 and bool(np.all((lengths > 0) & np.isfinite(lengths)))


LENGTHS = Rule("a finite number > 0, or one per column", _is_lengths)


def by_length(w: np.ndarray, Z: np.ndarray, lengths) -> list[Callable[[], np.ndarray]]:
    """Return one function per length scale, which computes ``w`` times the squared differences of its columns."""

    def of_column(j: int) -> np.ndarray:
        return w * np.subtract.outer(Z[:, j], Z[:, j]) ** 2

    if np.size(lengths) == 1:
        return [lambda: np.sum([of_column(j) for j in range(Z.shape[1])], axis=0)]
    return [partial(of_column, j) for j in range(Z.shape[1])]


def in_units(who: str, A, lengths):
    """Return the sample divided by its length scales."""
    factors = 1.0 / np.asarray(lengths, dtype=np.float64)
    if factors.ndim and len(factors) not in (1, A.shape[1]):
        raise InvalidData(f"{who}: length_scale has {len(factors)} entries, but the sample has {A.shape[1]} columns.")
    factors = factors.astype(A.dtype)
    if sparse.issparse(A):
        return A * float(factors.ravel()[0]) if factors.size == 1 else A.multiply(factors).tocsr()
    return A * factors
