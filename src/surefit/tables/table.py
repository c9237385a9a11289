"""A table with its place in a file: cells, and the row numbers by which a person finds them there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    import polars


class Table(NamedTuple):
    """Columns and where they came from.

    Parameters
    ----------
    frame : polars.DataFrame
        The cells.
    rows : ndarray of int
        Number of each row as a person counts it in the source: in a CSV file the header is row 1.
    source : str
        Name of the file or data set, for messages.
    remarks : tuple of str
        What was odd but harmless while reading.
    """

    frame: polars.DataFrame
    rows: np.ndarray
    source: str
    remarks: tuple[str, ...] = ()

    def take(self, index: np.ndarray) -> Table:
        """Return the rows at these positions; they keep their numbers."""
        return self._replace(frame=self.frame[index], rows=self.rows[index])

    def require(self, columns: Iterable[str]) -> None:
        """Refuse a table that lacks one of ``columns``, and suggest what may have been meant."""
        for name in columns:
            if name not in self.frame.columns:
                raise InvalidData(f"{self.source}: there is no column {name!r}{did_you_mean(name, self.frame.columns)}")


def did_you_mean(name: str, known: list[str]) -> str:
    """Return the end of a sentence about an unknown name: close names, or all of them."""
    by_lower = {other.lower(): other for other in known}
    close = [by_lower[key] for key in get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)]
    if close:
        return f"; did you mean {' or '.join(repr(other) for other in close)}?"
    shown = ", ".join(repr(other) for other in known[:12]) + (", ..." if len(known) > 12 else "")
    return f"; the columns are {shown}."


def as_table(X: Any) -> Table:
    """Return ``X`` as a table: a Table as it is, a polars frame, or any frame whose columns NumPy can read.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import as_table
    >>> as_table(polars.DataFrame({"age": [31, 47]})).rows
    array([0, 1])
    """
    import polars

    if isinstance(X, Table):
        return X
    if hasattr(X, "columns") and not isinstance(X, polars.DataFrame):
        X = polars.DataFrame({str(name): np.asarray(X[name]).tolist() for name in X.columns}, strict=False)
    if not isinstance(X, polars.DataFrame):
        raise InvalidData(f"A table with named columns is expected (polars or pandas); got {type(X).__name__}.")
    return Table(X, np.arange(len(X)), "the table")


def split_table(table: Table, test_size: float = 0.2, seed: int = 0) -> tuple[Table, Table]:
    """Split the rows at random into a training and a test part, both in random order.

    Parameters
    ----------
    table : Table or data frame
        What to split.
    test_size : float in [0, 1)
        Share of the rows in the test part, rounded up; 0 for no test part.
    seed : int >= 0
        Number that fixes the split.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import split_table
    >>> train, test = split_table(polars.DataFrame({"age": [31, 47, 52, 60, 25]}), test_size=0.4)
    >>> len(train.frame), len(test.frame)
    (3, 2)
    """
    if not 0 <= test_size < 1:
        raise InvalidParameter("split_table", "test_size", "a number from 0 up to, but not including, 1", test_size)
    table = as_table(table)
    n = len(table.frame)
    n_test = min(int(np.ceil(test_size * n)), n - 1) if test_size > 0 else 0
    order = np.random.RandomState(seed).permutation(n)  # the one generator whose numbers NumPy promises never to change
    # Random order, so that folds of consecutive rows are random even if the file is sorted.
    return table.take(order[n_test:]), table.take(order[:n_test])
