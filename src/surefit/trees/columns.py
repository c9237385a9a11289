"""Conversion of a table to dense columns, with categories as codes and declared thresholds."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData, InvalidParameter

MOST_CATEGORIES = 255


def as_columns(X, categories: dict[int, np.ndarray], order: Literal["C", "F"] = "C") -> np.ndarray:
    """Return the columns of X in float64, with categories as codes; -1 is an unseen category, nan is missing.

    In the order "F" of memory, which is that of rows, this is a view of X if possible.
    """
    dense = X.toarray() if sparse.issparse(X) else X
    values = np.require(dense.T, np.float64, [order, "W"])  # compiled for memory that can be written
    values = values.copy() if np.shares_memory(values, dense) and categories else values
    for j, known in categories.items():
        values[j] = codes_of(values[j], known)
    return values


def as_rows(X, categories: dict[int, np.ndarray]) -> np.ndarray:
    """Return X as a dense array with categories as codes."""
    dense = X.toarray() if sparse.issparse(X) else X
    if categories:
        dense = np.array(dense, dtype=np.float64)
        for j, known in categories.items():
            dense[:, j] = codes_of(dense[:, j], known)
    return dense


def codes_of(column: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the index of each value among the known ones, -1 if it is unknown, nan if it is missing."""
    place = np.minimum(np.searchsorted(known, column), max(len(known) - 1, 0))
    codes = np.where(known[place] == column, place, -1.0) if len(known) else np.full(len(column), -1.0)
    return np.where(np.isnan(column), np.nan, codes)


def read_categories(estimator, X, table: Any) -> dict[int, np.ndarray]:
    """Return the sorted values of each categorical column; ``table`` is X as given, with names and types."""
    who, given, d = type(estimator).__name__, estimator.categorical_features, X.shape[1]
    if given is None:
        return {}
    labels = getattr(estimator, "category_labels_", {})
    chosen = _chosen_columns(who, given, d, table, labels)
    texts = sorted(set(labels) - set(chosen.tolist()))
    if texts:
        raise InvalidParameter(
            who, "categorical_features", f"a list that includes column {texts[0]}, which contains text", given
        )
    found = {}
    for j in chosen:
        column = np.asarray(X[:, [j]].toarray() if sparse.issparse(X) else X[:, j], dtype=np.float64).ravel()
        found[int(j)] = np.unique(column[~np.isnan(column)])
        if len(found[int(j)]) > MOST_CATEGORIES:
            raise InvalidData(
                f"{who}: column {j} has {len(found[int(j)])} categories, more than {MOST_CATEGORIES}; "
                "merge rare categories, or remove the column from categorical_features."
            )
    return found


def _chosen_columns(who: str, given: Any, d: int, table: Any, labels: dict) -> np.ndarray:
    names = list(getattr(table, "columns", []))
    if isinstance(given, str):
        if given != "from_dtype":
            raise InvalidParameter(
                who, "categorical_features", "None, 'from_dtype', column numbers or names, a mask", given
            )
        types = [str(kind) for kind in getattr(table, "dtypes", [])]
        marked = ("category", "categorical", "enum", "object", "str", "utf8")
        by_type = [j for j, kind in enumerate(types) if kind.lower().startswith(marked)]
        return np.array(sorted({*by_type, *labels}), dtype=int)
    listed = np.asarray(given)
    if listed.dtype == bool and listed.shape == (d,):
        return np.flatnonzero(listed)
    if listed.ndim == 1 and (listed.dtype.kind in "US" or listed.dtype == object):
        unknown = [name for name in listed if name not in names]
        if unknown:
            raise InvalidParameter(who, "categorical_features", f"names of columns of X, which has {names}", unknown[0])
        return np.array([names.index(name) for name in listed], dtype=int)
    if listed.ndim != 1 or (listed.size and (listed.dtype.kind not in "iu" or listed.min() < -d or listed.max() >= d)):
        raise InvalidParameter(
            who, "categorical_features", f"a list of column numbers below {d} or names, or a mask", given
        )
    return np.unique(listed.astype(int) % d)


def read_thresholds(estimator, d: int) -> list[np.ndarray] | None:
    """Return the declared thresholds of each column, ascending, or None."""
    given, who = estimator.thresholds, type(estimator).__name__
    if given is None:
        return None
    words = "None, a list of numbers for all columns, or one list per column"
    try:
        per_column = [np.asarray(item, dtype=np.float64) for item in given]
    except (TypeError, ValueError):
        raise InvalidParameter(who, "thresholds", words, given) from None
    if all(item.ndim == 0 for item in per_column):
        per_column = [np.array(per_column)] * d
    if len(per_column) != d or any(item.ndim != 1 or not np.isfinite(item).all() for item in per_column):
        raise InvalidParameter(who, "thresholds", words + f" ({d} of them)", given)
    per_column = [np.unique(item) for item in per_column]
    if max(len(item) for item in per_column) > 254:
        raise InvalidParameter(
            who, "thresholds", "at most 254 numbers per column", max(len(item) for item in per_column)
        )
    return per_column
