"""Independent units (rows that must stay together), and signs that columns were scaled with statistics of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.rows import row_keys
from surefit.core.sample import read
from surefit.core.validation import Rule

LEVELS = 5  # values of a column of a designed experiment
NORMAL_END = 5.199337582  # end of scikit-learn's clipped normal quantiles
#: Assumptions that a user may declare if the data seem to violate a rule.
DECLARABLE = ("equal_rows_are_draws", "fixed_scaling", "independent_times")
ASSUME = Rule(
    "a tuple with elements from " + ", ".join(map(repr, DECLARABLE)),
    lambda v: isinstance(v, (tuple, list)) and all(word in DECLARABLE for word in v),
)


class Units(NamedTuple):
    """Independent units of a table: ``codes[i]`` is the unit of row i, from 0 to ``total - 1``."""

    codes: np.ndarray
    total: int
    kind: str  # "rows", "copies" (equal rows are one unit) or "groups"

    def rows(self, units: np.ndarray) -> np.ndarray:
        """Return the rows of the given units, in the order of the table."""
        chosen = np.zeros(self.total, dtype=bool)
        chosen[units] = True
        return np.flatnonzero(chosen[self.codes])

    def ordered_rows(self, units: np.ndarray) -> np.ndarray:
        """Return the rows of the given units, unit by unit in the given order."""
        place = np.full(self.total, -1)
        place[units] = np.arange(len(units))
        rows = self.rows(units)
        return rows[np.argsort(place[self.codes[rows]], kind="stable")]

    def means(self, losses: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the mean loss of each unit, in the order of first appearance in ``rows``."""
        within = self.renumbered(rows)
        return np.bincount(within, weights=losses) / np.bincount(within)

    def renumbered(self, rows: np.ndarray) -> np.ndarray:
        """Return the units of the rows, numbered in the order of their first appearance."""
        found, first, inverse = np.unique(self.codes[rows], return_index=True, return_inverse=True)
        rank = np.empty(len(found), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(found))
        return rank[inverse]

    @property
    def tags(self) -> tuple[str, ...]:
        """Assumptions about the units."""
        return {"rows": ("iid",), "copies": ("iid", "equal_rows_are_copies"), "groups": ("groups_iid",)}[self.kind]


def find_units(who: str, X: Any, y, groups=None, assume=()) -> Units:
    """Return the units: groups if given, else rows, with duplicates counted as one unless they were declared to be draws."""
    data = read(X, y)
    n = data.X.shape[0]
    if groups is not None:
        names = np.asarray(groups)
        if names.shape != (n,):
            raise InvalidData(f"{who}: groups must name one group per row ({n}); got shape {names.shape}.")
        codes = np.unique(names, return_inverse=True)[1]
        return Units(codes, int(codes.max()) + 1, "groups")
    if "equal_rows_are_draws" in assume:
        return Units(np.arange(n), n, "rows")
    seen: dict[bytes, int] = {}
    codes = np.array([seen.setdefault(key, len(seen)) for key in row_keys(data.X, data.y)], dtype=np.int64)
    return Units(codes, len(seen), "rows" if len(seen) == n else "copies")


def sign_of_scaling(X: Any) -> str | None:
    """Return a description of the sign that the columns were scaled with statistics of these rows, or None.

    A column of measurements is very unlikely to have a mean of zero to ten digits, or a range of exactly 0 (or -1) to
    1. If all columns have this property, they were probably centered, standardized or rescaled with statistics of all
    rows, including held-out rows.
    """
    table = read(X).X
    if sparse.issparse(table) or table.dtype.kind == "O" or table.shape[0] < 8:
        return None
    low, high = table.min(axis=0), table.max(axis=0)
    live = (low < high) & np.isfinite(low) & np.isfinite(high)
    if live.sum() < 2:
        return None
    part = table[:, live].astype(np.float64)
    low, high, eps = low[live], high[live], 1e-10 if table.dtype == np.float64 else 1e-5
    inside = np.any((part > low + eps) & (part < high - eps), axis=0)
    size = np.abs(part).mean(axis=0)
    columns = Columns(part.mean(axis=0), size, low, high, inside, lambda: _is_balanced(part), eps)
    return sign_of_columns(columns) or _sign_of_other_scalers(part, np.abs(part).max(axis=0), eps)


class Columns(NamedTuple):
    """Statistics that show signs of scaling, for columns with more than one value."""

    mean: np.ndarray
    size: np.ndarray  # mean absolute values
    low: np.ndarray
    high: np.ndarray
    inside: np.ndarray  # whether values strictly between the ends occur
    balanced: Callable[[], bool]  # whether all columns have few values
    eps: float  # error due to rounding


def sign_of_columns(columns: Columns) -> str | None:
    """Return the sign of scaling in the means and ranges of all columns, or None."""
    mean, size, low, high, inside, balanced, eps = columns
    if np.all(np.abs(mean) <= eps * size) and not balanced():
        return "every column of X has mean zero"
    for bottom in (0.0, -1.0):
        if np.all((np.abs(low - bottom) <= eps) & (np.abs(high - 1.0) <= eps) & inside):
            return f"every column of X ranges exactly from {bottom:g} to 1"
    if np.all(np.abs(high - NORMAL_END) <= 1e-6) and np.all(np.abs(low + NORMAL_END) <= 1e-6):
        return f"every column of X ranges from {-NORMAL_END:.4f} to {NORMAL_END:.4f}, like normal quantiles of all rows"
    return None


def _sign_of_other_scalers(part: np.ndarray, top: np.ndarray, eps: float) -> str | None:
    """Return the sign of scaling in medians, quartiles and largest entries, or None."""
    low, middle, high = np.percentile(part, [25, 50, 75], axis=0)
    if np.all(np.abs(middle) <= eps) and np.all(np.abs(high - low - 1.0) <= eps) and not _is_balanced(part):
        return "every column of X has median zero and interquartile range one"
    # A natural limit or a clipping value is usually attained by several rows.
    if np.all(np.abs(top - 1.0) <= eps) and np.all(np.sum(np.abs(part) >= top - eps, axis=0) == 1):
        return "the largest entry of every column of X is exactly 1"
    return None


def _is_balanced(part: np.ndarray) -> bool:
    """Return whether all columns have few values: a designed experiment with levels -1 and 1 is centered by design."""
    return all(len(np.unique(column)) <= LEVELS for column in part.T)
