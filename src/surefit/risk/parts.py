"""Fits on some of the rows, with an informative error if these rows are too few."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from surefit.core.errors import InvalidData
from surefit.core.rows import take_rows, take_values


def fit_part(
    who: str,
    estimator: Any,
    X: Any,
    y: np.ndarray,
    rows: np.ndarray,
    params: dict[str, Any] | None = None,
    given: Any = None,
):
    """Fit a clone on some rows; parameters of ``fit`` with one entry per row are restricted to them.

    The model receives the target in the format ``given`` by the user (a list, a series), if any.

    Parts are drawn without using the labels, so a part may lack a class. Most models then never predict this class, and
    err on its rows. If a model cannot be fitted without the class, the error message names it.
    """
    cut = take_values(params or {}, rows, len(y))
    model = clone(estimator)
    try:
        model.fit(take_rows(X, rows), take_rows(y if given is None else given, rows), **cut)
        return model
    except ValueError as error:
        lost = missing_classes(estimator, y, rows)
        if lost is None and not cut:
            raise
        given = f" with {', '.join(cut)}" if cut else ""
        without, advice = "", ""
        if lost is not None:
            without = f" (these contain no row of class {lost})"
            advice = " Rows were drawn without using classes: use another random_state, or more rows of rare classes."
        words = f"{type(estimator).__name__} could not be fitted on {len(rows)} of {len(y)} rows{without}{given}"
        raise InvalidData(f"{who}: {words}: {str(error).rstrip('.')}.{advice}") from error


def missing_classes(estimator: Any, y: np.ndarray, rows: np.ndarray) -> str | None:
    """Return the classes of y that the rows lack, as text; None if there are none or the model is not a classifier."""
    if not is_classifier(estimator) or y.ndim > 1:
        return None
    lost = np.setdiff1d(np.unique(y), np.unique(y[rows]))
    return (
        ", ".join(str(name) for name in lost[:3].tolist()) + (" and others" if len(lost) > 3 else "")
        if len(lost)
        else None
    )
