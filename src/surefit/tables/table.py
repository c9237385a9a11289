"""Table of cells with its source and the row numbers in the file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData

if TYPE_CHECKING:
    import polars


class Table(NamedTuple):
    """Columns with their source.

    Parameters
    ----------
    frame : polars.DataFrame
        The cells; those of a text file are text until their columns are interpreted.
    rows : ndarray of int
        Row numbers as counted by users: in a CSV file the header is row 1.
    source : str
        Name of the file or data set, for messages.
    notes : tuple of str
        Notes about the reading.
    separator : str
        Separator of the cells; empty if there is none.
    """

    frame: polars.DataFrame
    rows: np.ndarray
    source: str
    notes: tuple[str, ...] = ()
    separator: str = ""

    def take(self, index: np.ndarray) -> Table:
        """Return the rows at these positions, with their row numbers."""
        return self._replace(frame=self.frame[index], rows=self.rows[index])

    def noted(self, *notes: str) -> Table:
        """Return the table with additional notes."""
        return self._replace(notes=(*self.notes, *notes))

    def require(self, columns: Iterable[str]) -> None:
        """Raise ``InvalidData`` if one of ``columns`` is missing, with a suggestion."""
        known = set(self.frame.columns)
        for name in columns:
            if name not in known:
                raise InvalidData(f"{self.source}: there is no column {name!r}{did_you_mean(name, self.frame.columns)}")


def did_you_mean(name: str, known: list[str]) -> str:
    """Return the end of a message about an unknown name: similar names, or all names."""
    by_lower = {other.lower(): other for other in known}
    close = [by_lower[key] for key in get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.6)]
    if close:
        return f"; did you mean {' or '.join(repr(other) for other in close)}?"
    return f"; the columns are {listed(known)}."


def listed(names: list[str], most: int = 12) -> str:
    """Return names in quotes, separated by commas; further names are replaced by three dots."""
    return ", ".join(repr(name) for name in names[:most]) + (", ..." if len(names) > most else "")


def column_option(name: str, kind: str) -> str:
    """Return the command line option that sets the kind of a column, quoted for a shell.

    Examples
    --------
    >>> from surefit.tables.table import column_option
    >>> column_option("order id", "drop")
    "--column 'order id:drop'"
    """
    return f"--column {shlex.quote(f'{name}:{kind}')}"


def as_table(X: Any) -> Table:
    """Return ``X`` as a table; it may be a Table, a polars frame, or any frame whose columns NumPy can read.

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
        raise InvalidData(f"Expected a table with named columns (polars or pandas); got {type(X).__name__}.")
    return Table(X, np.arange(len(X)), "the table")
