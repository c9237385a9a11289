"""Length scales: one for all columns, or one a column."""

from __future__ import annotations

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


LENGTHS = Rule("a finite number > 0, or one a column", _is_lengths)


def in_units(who: str, A, lengths):
    """Return the sample divided by its length scales."""
    factors = 1.0 / np.asarray(lengths, dtype=np.float64)
    if factors.ndim and len(factors) != A.shape[1]:
        raise InvalidData(f"{who}: there are {len(factors)} length scales; the sample has {A.shape[1]} columns.")
    factors = factors.astype(A.dtype)
    if sparse.issparse(A):
        return A * float(factors) if factors.ndim == 0 else A.multiply(factors).tocsr()
    return A * factors
