"""What a fit checks before it starts: parameters by declared rules, data by scikit-learn, messages by us."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from surefit.core.errors import InvalidData, InvalidParameter


class Rule(NamedTuple):
    """A parameter's domain: a test and the words for it."""

    words: str
    allows: Callable[[Any], bool]

    def __or__(self, other: Rule) -> Rule:  # type: ignore[override]
        return Rule(f"{self.words}, or {other.words}", lambda v: self.allows(v) or other.allows(v))


def _is_real(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and not np.isnan(float(value))


def _is_count(value) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


REAL = Rule("a finite number", lambda v: _is_real(v) and np.isfinite(v))
POSITIVE = Rule("a finite number > 0", lambda v: _is_real(v) and 0 < v < np.inf)
NON_NEGATIVE = Rule("a finite number >= 0", lambda v: _is_real(v) and 0 <= v < np.inf)
FRACTION = Rule("a number from 0 to 1", lambda v: _is_real(v) and 0 <= v <= 1)
COUNT = Rule("an integer >= 1", lambda v: _is_count(v) and v >= 1)
BOOLEAN = Rule("True or False", lambda v: isinstance(v, (bool, np.bool_)))
NOTHING = Rule("None", lambda v: v is None)
ARRAY = Rule("an array", lambda v: isinstance(v, np.ndarray) or (hasattr(v, "__len__") and not isinstance(v, str)))
RANDOM_STATE = NOTHING | Rule(
    "an integer >= 0 or a numpy RandomState",
    lambda v: (_is_count(v) and v >= 0) or isinstance(v, (np.random.RandomState, np.random.Generator)),
)
N_JOBS = NOTHING | Rule("an integer other than 0 (-1: all cores)", lambda v: _is_count(v) and v != 0)
ANYTHING = Rule("anything", lambda v: True)


def one_of(*choices: Any) -> Rule:
    """Rule: one of the listed values."""
    return Rule(
        "one of " + ", ".join(map(repr, choices)), lambda v: any(type(v) is type(c) and v == c for c in choices)
    )


def check_params(estimator) -> None:
    """Check every parameter against ``estimator._rules``; the first offence is an ``InvalidParameter``."""
    who = type(estimator).__name__
    for name, rule in estimator._rules.items():
        value = getattr(estimator, name)
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)


def read_data(estimator, X, y=None, *, reset: bool = True, **options):
    """``validate_data`` of scikit-learn, with our sentence (row and column) when a value is not finite.

    Options are those of ``sklearn.utils.validation.validate_data``.
    """
    arguments = (X,) if y is None and not reset else (X, y)
    try:
        return validate_data(estimator, *arguments, reset=reset, **options)
    except ValueError as error:
        raise _explained(estimator, X, y, error) from None


def read_strings(who: str, X) -> np.ndarray:
    """Return a sample of strings as a one-dimensional array of objects; a table of one column will do."""
    if isinstance(X, str):
        raise InvalidData(f"{who}: a sample is a list of strings; got one string, {X!r}. Put it into a list.")
    array = np.asarray(X, dtype=object)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or not len(array):
        raise InvalidData(
            f"{who}: a sample is a list of strings or a table of one column; got an array of shape {array.shape}."
        )
    for i, text in enumerate(array):
        if not isinstance(text, str):
            raise InvalidData(f"{who}: every element must be a string; element {i} is {text!r}.")
    return array


def read_weights(who, sample_weight, n_rows: int) -> np.ndarray | None:
    """Return the sample weights as float64, or None; negative, missing or all-zero weights are refused.

    ``who`` is the estimator, or the name, that the error message speaks of.
    """
    if sample_weight is None:
        return None
    who = who if isinstance(who, str) else type(who).__name__
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, float(sample_weight))
    else:
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"{who}: sample_weight must be numbers; got {type(sample_weight).__name__}.") from None
    if weights.ndim != 1:
        raise InvalidData(f"{who}: sample_weight must be 1D array or scalar; got {weights.ndim} dimensions.")
    if weights.shape != (n_rows,):
        raise InvalidData(
            f"{who}: sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight a row of X."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise InvalidData(
            f"{who}: Negative values in data passed to sample_weight, or values that are not finite: "
            f"row {bad[0]} has {float(weights[bad[0]])!r}; weights must be finite and >= 0."
        )
    if not weights.any():
        raise InvalidData(f"{who}: Sample weights must contain at least one non-zero number; all {n_rows} are zero.")
    return weights


def _explained(estimator, X, y, error: ValueError) -> ValueError:
    """Return a better error if the trouble is a value that is not finite, else the one that came."""
    text = str(error)
    if "NaN" not in text and "infinity" not in text:
        return error
    who = type(estimator).__name__
    names = getattr(X, "columns", None)
    for label, values in (("X", X), ("y", y)):
        place = None if values is None else _first_not_finite(values)
        if place is not None:
            row, column, value = place
            where = f"row {row}"
            if label == "X":
                where += f", column {column}" + (f" ({names[column]!r})" if names is not None else "")
            word = "NaN" if np.isnan(value) else "infinity"
            return InvalidData(
                f"{who}: {label} contains {word} at {where}; remove the row, or impute it "
                "(for example with sklearn.impute.SimpleImputer in a Pipeline)."
            )
    return error


def _first_not_finite(values) -> tuple[int, int, float] | None:
    if sparse.issparse(values):
        entries = values.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        if not len(bad):
            return None
        first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
        return int(entries.row[first]), int(entries.col[first]), float(entries.data[first])
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    table = table.reshape(len(table), -1)
    places = np.argwhere(~np.isfinite(table))
    if not len(places):
        return None
    row, column = (int(k) for k in places[0])
    return row, column, float(table[row, column])
