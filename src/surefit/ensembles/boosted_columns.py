"""Columns for gradient boosting: categorical features, monotonicity and interaction constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_X_y

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.guards.refusals import in_one_sentence
from surefit.core.validation import read_data
from surefit.trees.categories import as_floats, is_missing, reads_as_numbers, table_columns

READ: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}


def read_columns(estimator, X, y=None, *, reset: bool):
    """Return X as numbers (categories of a data frame as codes, missing values as NaN), and y if given."""
    if reset:
        estimator._frame_categories = _frame_categories(X)
    with in_one_sentence(estimator, X, y):
        numbers = _as_numbers(X, estimator._frame_categories)
    if numbers is not X:  # column names are read from the frame, values from the codes
        read_data(estimator, X, y if reset else None, reset=reset, skip_check_array=True)
        with in_one_sentence(estimator, numbers, y):
            found = (numbers,) if y is None else check_X_y(numbers, y, estimator=estimator, **READ)
    elif y is None:
        found = (read_data(estimator, X, reset=reset, **READ),)
    else:
        found = read_data(estimator, X, y, reset=reset, **READ)
    if np.isinf(found[0]).any():  # only the order of values matters
        found = (np.nan_to_num(found[0], nan=np.nan), *found[1:])
    return found if y is not None else found[0]


def _frame_categories(X) -> dict[int, list]:
    """Return the labels of the categorical columns of a table: pandas categories, or sorted distinct texts that are not all numbers."""
    if not hasattr(X, "columns"):
        return {}
    types, found = list(X.dtypes), {}
    for j, column in enumerate(table_columns(X)):
        if str(types[j]) == "category" and hasattr(types[j], "categories"):
            found[j] = list(types[j].categories)
        elif column.dtype == object and any(isinstance(v, str) for v in column):
            if not str(types[j]).startswith(("Categorical", "Enum")) and reads_as_numbers(column):
                continue  # as in scikit-learn
            found[j] = sorted({str(v) for v in column if not is_missing(v)})
    return found


def _as_numbers(X, categories: dict[int, list]):
    if not hasattr(X, "columns"):
        return X
    columns = table_columns(X)
    if not categories and all(column.dtype != object for column in columns):
        return X
    numbers = []
    for j, column in enumerate(columns):
        if j in categories:
            place = {label: float(k) for k, label in enumerate(categories[j])}
            numbers.append(np.array([place.get(label, np.nan) for label in column.tolist()], dtype=np.float64))
        else:
            numbers.append(as_floats(column))
    return np.column_stack(numbers)


def find_categorical(estimator, X: np.ndarray) -> np.ndarray:
    """Return the mask of categorical columns; raise an error if a column has too many categories."""
    marked = mark_categorical(estimator, X.shape[1])
    for j in np.flatnonzero(marked):
        require_few_categories(estimator, int(j), len(np.unique(X[~np.isnan(X[:, j]), j])))
    return marked


def require_few_categories(estimator, j: int, many: int) -> None:
    """Raise an error if a column has more categories than bins."""
    if many > estimator.max_bins:
        raise InvalidData(
            f"{type(estimator).__name__}: column {j} has {many} categories, more than max_bins={estimator.max_bins}; merge rare "
            "categories, or treat the column as a number."
        )


def mark_categorical(estimator, d: int) -> np.ndarray:
    """Return the mask of the categorical columns given by the parameters or by the dtypes of the table."""
    who = type(estimator).__name__
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
    texts = [
        j
        for j, labels in estimator._frame_categories.items()
        if not marked[j] and any(isinstance(v, str) for v in labels)
    ]
    if texts:
        raise InvalidData(
            f"{who}: column {texts[0]} contains text and is not among categorical_features (could not convert string to float); "
            "pass categorical_features='from_dtype', or list the column."
        )
    return marked


def monotone_signs(estimator, d: int) -> np.ndarray:
    """Return the monotonicity constraint of each column: -1, 0 or 1."""
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
    """Return a matrix with one row per set of columns that may occur together on a path; no rows if all may."""
    who, wanted = type(estimator).__name__, estimator.interaction_cst
    if wanted is None:
        return np.zeros((0, d), dtype=bool)
    if isinstance(wanted, str):
        named = {"no_interactions": [{j} for j in range(d)]}
        named["pairwise"] = [{i, j} for i in range(d) for j in range(i)]
        sets = named[wanted]
    else:
        if not all(np.iterable(group) and not isinstance(group, str) for group in wanted):
            raise InvalidParameter(
                who, "interaction_cst", "a sequence of sets of columns, such as [{0, 1}, {2}]", wanted
            )
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
    if item != int(item) or not 0 <= item < d:
        raise InvalidParameter(who, parameter, f"columns from 0 to {d - 1}", item)
    return int(item)
