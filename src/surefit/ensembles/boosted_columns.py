"""Columns for gradient boosting: which are categories, which must act monotonically, which may interact."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_X_y

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_data

READ: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}


def read_columns(estimator, X, y=None, *, reset: bool):
    """Return X as numbers (categories of a data frame as their codes, missing values as NaN), and y if it was given."""
    if reset:
        estimator._frame_categories = _frame_categories(X)
    numbers = _as_numbers(X, estimator._frame_categories)
    if numbers is not X:  # names of the columns are read from the frame, values from the codes
        read_data(estimator, X, y if reset else None, reset=reset, skip_check_array=True)
        found = (numbers,) if y is None else check_X_y(numbers, y, estimator=estimator, **READ)
    elif y is None:
        found = (read_data(estimator, X, reset=reset, **READ),)
    else:
        found = read_data(estimator, X, y, reset=reset, **READ)
    if np.isinf(found[0]).any():
        raise InvalidData(
            f"{type(estimator).__name__}: X contains infinity; a missing value is NaN, and a limit is a number."
        )
    return found if y is not None else found[0]


def _frame_categories(X) -> dict[int, list]:
    """Categories of the columns of a pandas frame that have the type 'category'."""
    types = getattr(X, "dtypes", None)
    if types is None or not hasattr(X, "columns"):
        return {}
    pairs = enumerate(types.tolist() if hasattr(types, "tolist") else types)
    return {j: list(kind.categories) for j, kind in pairs if str(kind) == "category" and hasattr(kind, "categories")}


def _as_numbers(X, categories: dict[int, list]):
    if not categories:
        return X
    if not hasattr(X, "iloc"):
        return X
    columns = []
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if j in categories:
            place = {label: float(k) for k, label in enumerate(categories[j])}
            columns.append(np.array([place.get(label, np.nan) for label in column.astype(object)], dtype=np.float64))
        else:
            columns.append(np.asarray(column, dtype=np.float64))
    return np.column_stack(columns)


def find_categorical(estimator, X: np.ndarray) -> np.ndarray:
    """Mark the categorical columns, and check that they are few enough to be told apart."""
    who, d = type(estimator).__name__, X.shape[1]
    wanted, marked = estimator.categorical_features, np.zeros(d, dtype=bool)
    if isinstance(wanted, str):
        marked[list(estimator._frame_categories)] = True
    elif wanted is not None:
        listed = np.asarray(wanted)
        if listed.dtype.kind == "b":
            if listed.shape != (d,):
                raise InvalidParameter(who, "categorical_features", f"a mask of {d} columns", wanted)
            marked |= listed
        else:
            for item in listed.tolist():
                marked[_column(estimator, item, "categorical_features")] = True
    for j in np.flatnonzero(marked):
        many = len(np.unique(X[~np.isnan(X[:, j]), j]))
        if many > estimator.max_bins:
            raise InvalidData(
                f"{who}: column {j} has {many} categories, more than max_bins={estimator.max_bins}; merge rare categories, or "
                "treat the column as a number."
            )
    return marked


def monotone_signs(estimator, d: int) -> np.ndarray:
    """Return -1, 0 or 1 for each column."""
    who, wanted = type(estimator).__name__, estimator.monotonic_cst
    signs = np.zeros(d, dtype=np.int64)
    if wanted is None:
        return signs
    if isinstance(wanted, dict):
        for name, sign in wanted.items():
            signs[_column(estimator, name, "monotonic_cst")] = sign
    else:
        if np.shape(wanted) != (d,):
            raise InvalidParameter(who, "monotonic_cst", f"one sign for each of {d} columns", wanted)
        signs[:] = np.asarray(wanted)
    if not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidParameter(who, "monotonic_cst", "-1, 0 or 1 for each column", wanted)
    return signs


def interaction_groups(estimator, d: int) -> np.ndarray:
    """Return the sets of columns that may meet on a path, one a row; no row if all may."""
    who, wanted = type(estimator).__name__, estimator.interaction_cst
    if wanted is None:
        return np.zeros((0, d), dtype=bool)
    if isinstance(wanted, str):
        named = {"no_interactions": [{j} for j in range(d)]}
        named["pairwise"] = [{i, j} for i in range(d) for j in range(i)]
        sets = named[wanted]
    else:
        sets = [{_column(estimator, item, "interaction_cst") for item in group} for group in wanted]
        rest = set(range(d)).difference(*sets)
        sets = [*sets, rest] if rest else sets
    if len(sets) > 63:
        raise InvalidParameter(who, "interaction_cst", "at most 63 sets of columns", f"{len(sets)} sets")
    groups = np.zeros((len(sets), d), dtype=bool)
    for row, members in zip(groups, sets, strict=True):
        row[list(members)] = True
    return groups


def _column(estimator, item, parameter: str) -> int:
    who, d = type(estimator).__name__, estimator.n_features_in_
    if isinstance(item, str):
        names = list(getattr(estimator, "feature_names_in_", []))
        if item not in names:
            raise InvalidParameter(who, parameter, "names of columns of X", item)
        return names.index(item)
    if not 0 <= int(item) < d:
        raise InvalidParameter(who, parameter, f"columns from 0 to {d - 1}", item)
    return int(item)
