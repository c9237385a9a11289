"""Text categories: encoding of table columns as codes, and decoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_X_y

from surefit.core.errors import InvalidData
from surefit.core.guards.refusals import in_one_sentence
from surefit.core.validation import read_data

READ: dict[str, Any] = {
    "accept_sparse": ["csc", "csr"],
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


def read_table(estimator, X, y=None, *, reset: bool = True, **options):
    """Return X as numbers, with text as codes of ``estimator.category_labels_``, and y if given."""
    if reset:
        estimator.category_labels_ = _labels(estimator, X)
    if not estimator.category_labels_:
        if y is None:
            return read_data(estimator, X, reset=reset, **{**READ, **options})
        return read_data(estimator, X, y, reset=reset, **{**READ, **options})
    numbers = encode(X, estimator.category_labels_)
    read_data(estimator, X, y, reset=reset, skip_check_array=True)  # column names come from the table
    if y is None:
        return numbers
    with in_one_sentence(estimator, numbers, y):
        return check_X_y(numbers, y, estimator=estimator, **{**READ, **options})


def encode(X, labels: dict[int, np.ndarray]):
    """Return a table with text as codes: the index of the label, the number of labels if unseen, nan if missing."""
    if not labels or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        return X
    columns = []
    for j, column in enumerate(table_columns(X)):
        if j not in labels:
            columns.append(np.asarray(column, dtype=np.float64))
            continue
        place = {label: float(k) for k, label in enumerate(labels[j])}
        columns.append(
            np.array([np.nan if is_missing(v) else place.get(str(v), len(place)) for v in column], dtype=np.float64)
        )
    return np.column_stack(columns)


def _labels(estimator, X) -> dict[int, np.ndarray]:
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        return {}
    names = list(getattr(X, "columns", []))
    found = {}
    for j, column in enumerate(table_columns(X)):
        texts = [v for v in column if not is_missing(v) and isinstance(v, str)] if column.dtype == object else []
        if not texts or (estimator.categorical_features is None and reads_as_numbers(column)):
            continue
        if estimator.categorical_features is None:
            where = f"column {j}" + (f" ({names[j]!r})" if names else "")
            raise InvalidData(
                f"{type(estimator).__name__}: {where} contains text such as {texts[0]!r}, could not convert string to float; "
                "pass categorical_features='from_dtype', or list the categorical columns."
            )
        found[j] = np.unique([str(v) for v in column if not is_missing(v)])
    return found


def table_columns(X) -> list[np.ndarray]:
    """Return the columns of a table; text and categorical columns have dtype object."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        kept = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else [X[name] for name in X.columns]
        return [np.array(list(column), dtype=object) if _is_text(column) else np.asarray(column) for column in kept]
    try:
        array = np.asarray(X)
    except ValueError:  # for rows of different lengths, scikit-learn raises the error
        return []
    array = array.astype(object) if array.dtype.kind in "US" else array
    return list(array.T) if array.ndim == 2 else []


def _is_text(column) -> bool:
    kind = str(column.dtype).lower()
    return kind.startswith(("object", "str", "category", "categorical", "enum", "utf8"))


def reads_as_numbers(column: np.ndarray) -> bool:
    """Whether every text in a column is a number, as in a table of texts that was read without types."""
    try:
        as_floats(column)
    except (TypeError, ValueError):
        return False
    return True


def as_floats(column: np.ndarray) -> np.ndarray:
    """Return a column as numbers, with missing cells as nan; texts must be numbers."""
    cells = [np.nan if is_missing(v) else v for v in column] if column.dtype == object else column
    return np.asarray(cells, dtype=np.float64)


def is_missing(value) -> bool:
    """Whether a cell is empty."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # NA has no truth value
