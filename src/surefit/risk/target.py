"""Reads a target before rows are drawn, so that what is wrong with it is said before anything is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from surefit.core.errors import InvalidData


def read_target(who: str, X: Any, y: Any) -> np.ndarray:
    """Return y as one column without gaps whose values can be compared with each other."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    check_consistent_length(X, y)
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] > 1:
        raise InvalidData(f"{who}: one target is certified at a time; got {target.shape[1]} columns of y.")
    target = column_or_1d(target, warn=True)
    if target.dtype.kind == "f" and not np.all(np.isfinite(target)):
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        word = "NaN" if np.isnan(target[row]) else "infinity"
        raise InvalidData(f"{who}: y contains {word} at row {row}; remove the row, or fill in its target.")
    if target.dtype.kind == "O":
        try:
            np.unique(target)
        except TypeError:
            found = ", ".join(sorted({type(value).__name__ for value in target.tolist()}))
            raise InvalidData(f"{who}: y must hold texts only or numbers only; got values of type {found}.") from None
    return target
