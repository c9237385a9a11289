"""Validation of a target before rows are drawn, so that errors are reported before anything is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from surefit.core.errors import InvalidData
from surefit.core.guards.refusals import first_not_finite, in_one_sentence
from surefit.core.validation import refuse_large_integers


def read_target(who: str, X: Any, y: Any) -> np.ndarray:
    """Return y as one column without missing values, with values that can be compared."""
    if y is None:
        raise InvalidData(f"{who} requires y to be passed, but the target y is None.")
    with in_one_sentence(who, X, y):
        check_consistent_length(X, y)
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] > 1:
        raise InvalidData(f"{who}: y must have one column; got {target.shape[1]}. Certify one target at a time.")
    with in_one_sentence(who, X, y):
        target = column_or_1d(target, warn=True)
    refuse_large_integers(who, target)
    place = first_not_finite(target) if target.dtype.kind in ("f", "O") and len(target) else None
    if place is not None:
        raise InvalidData(f"{who}: y contains {place[2]} at row {place[0]}; remove the row, or impute its target.")
    if target.dtype.kind == "O":
        try:
            np.unique(target)
        except TypeError:
            found = ", ".join(sorted({type(value).__name__ for value in target.tolist()}))
            raise InvalidData(f"{who}: y must contain only text or only numbers; got values of type {found}.") from None
    return target
