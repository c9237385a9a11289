"""Conversion of other libraries' errors about unreadable data to one sentence with the location and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData, InvalidType, SurefitError

#: Remedies by keywords of scikit-learn's message, for messages whose own remedy is on another line or missing.
REMEDIES = {
    "Expected 2D array": "Reshape your data with X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row.",
    "inconsistent numbers of samples": "Pass one target per row of X.",
    "could not convert string": "Encode texts as numbers, for example with sklearn.preprocessing.OneHotEncoder in a Pipeline.",
    "setting an array element with a sequence": "Pass one number per cell.",
    "unique column names": "Rename the columns.",
    "Complex data": "Pass real and imaginary parts as two columns.",
}

TYPE = re.compile(r"^[A-Za-z_][\w.]*\.\w+: |^\w+Error: ")  # name of an exception before its message


@contextmanager
def in_one_sentence(estimator: Any, X: Any, y: Any = None) -> Iterator[None]:
    """Convert every error in reading ``X`` and ``y`` to ``InvalidData``; the message locates a value that is not finite."""
    try:
        with np.errstate(all="ignore"):  # scikit-learn sums all entries to detect NaN
            yield
    except SurefitError:
        raise
    except Exception as error:
        raise explained(estimator, X, y, error) from None


def explained(estimator: Any, X: Any, y: Any, error: Exception) -> InvalidData:
    """Return an ``InvalidData`` error that explains ``error`` in one sentence."""
    who, text = estimator if isinstance(estimator, str) else type(estimator).__name__, str(error).strip()
    if "feature names should match" in text:  # the lines after the first name the columns
        return InvalidData(f"{who}: {text}")
    if "NaN" in text or "infinity" in text or "missing" in text.lower() or "NAType" in text or "NoneType" in text:
        names = getattr(X, "columns", None)
        for label, values in (("X", X), ("y", y)):
            place = None if values is None else first_not_finite(values)
            if place is not None:
                row, column, word = place
                where = f"row {row}"
                if label == "X":
                    where += f", column {column}" + (f" ({names[column]!r})" if names is not None else "")
                return InvalidData(
                    f"{who}: {label} contains {word} at {where}; remove the row, or impute it "
                    "(for example with sklearn.impute.SimpleImputer in a Pipeline)."
                )
    first = (text.splitlines() or [type(error).__name__])[0].rstrip(" :.")
    first += (
        f": {last_line(error).rstrip('.')}" if "Traceback" in text else ""
    )  # scikit-learn quotes why candidates failed
    remedy = next((f" {remedy}" for words, remedy in REMEDIES.items() if words in text), "")
    kind = InvalidType if isinstance(error, TypeError) else InvalidData
    return kind(f"{'' if first.startswith(who) else f'{who}: '}{first}.{remedy}")


def last_line(error: Exception) -> str:
    """Return the last line of a message that quotes a traceback, without the exception type."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return TYPE.sub("", lines[-1].strip()) if len(lines) > 1 else lines[0]


def first_not_finite(values: Any) -> tuple[int, int, str] | None:
    """Return the row, column and description of the first missing or infinite cell; None if there is none."""
    if sparse.issparse(values):
        entries = values.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        if not len(bad):
            return None
        first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
        return int(entries.row[first]), int(entries.col[first]), _word(entries.data[first])
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.asarray(values, dtype=object)
    table = table.reshape(len(table), -1)
    bad = ~np.isfinite(table) if table.dtype != object else np.vectorize(_is_missing, otypes=[bool])(table)
    places = np.argwhere(bad)
    if not len(places):
        return None
    row, column = (int(k) for k in places[0])
    return row, column, _word(table[row, column])


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, (float, np.floating)):
        return not np.isfinite(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _word(cell: Any) -> str:
    if isinstance(cell, (float, np.floating)):
        return "NaN" if np.isnan(cell) else "infinity"
    return "None" if cell is None else "NA"
