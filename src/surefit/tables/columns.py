"""Interpretation of the columns of a table: number, boolean, category, date, text, or unused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.tables.dates import date_orders, is_ambiguous
from surefit.tables.numbers import decimal_marks, marks_in, parse_numbers
from surefit.tables.table import Table, column_option
from surefit.tables.typed import BOOLEANS, Column, known_cells, plain_numbers, typed

if TYPE_CHECKING:
    import polars

ASKED = ("number", "category", "date", "text", "drop")
IDENTIFIER_NAME = re.compile(
    r"(^|[_\s.-])(id|uid|uuid|guid|key|index|row|nr|no|number)$|^(id|uuid)[_\s.-]|[a-z]Id$", re.I
)
FEW_SPOILED = 3  # number of distinct texts allowed among numbers before the column is categorical
WORDS_OF_TEXT = 4  # mean number of words from which distinct texts are free text
MOST_LEVELS_OF_CATEGORY = 1000


class Spelling(NamedTuple):
    """User's information about the spelling of cells; None and empty mean automatic."""

    decimal: str | None = None
    dates: str | None = None
    na: tuple[str, ...] = ()
    kinds: dict[str, str] = {}


AS_FOUND = Spelling()


def describe(table: Table, spelling: Spelling = AS_FOUND, keep: tuple[str, ...] = ()) -> list[Column]:
    """Determine the kind of each column.

    Parameters
    ----------
    table : Table
        Cells as read.
    spelling : Spelling
        User's information about their spelling.
    keep : tuple of str
        Columns that are never identifiers: the target, weights, groups, times.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import as_table, describe
    >>> frame = polars.DataFrame({"price": ["1.020,50 €", "7,25 €"], "sold": ["yes", "no"], "on": ["24.12.2020", "1.2.2021"]})
    >>> [(column.name, column.kind) for column in describe(as_table(frame))]
    [('price', 'number'), ('sold', 'boolean'), ('on', 'date')]
    """
    table.require(spelling.kinds)
    plain = plain_numbers(table.frame)
    decimal = spelling.decimal or _decimal_of(table, spelling, plain)
    if decimal != "." or spelling.na:
        plain = {}  # columns of plain numbers may have another kind
    found = []
    for column in table.frame:
        if column.name in plain and column.name not in spelling.kinds:
            numbers = plain[column.name].drop_nulls().to_numpy()
            number = Column(column.name, "number", "numbers")
            found.append(_unless_identifier(number, numbers, len(column), column.name in keep))
        else:
            found.append(_column(table, column, spelling, decimal, column.name in keep))
    return found


def _decimal_of(table: Table, spelling: Spelling, plain: dict[str, polars.Series]) -> str:
    """Return the decimal mark of the unambiguous columns of the file, otherwise the one implied by the separator."""
    import polars

    votes = {".": 0, ",": 0}
    for column in table.frame:
        if column.dtype == polars.String:
            if column.name in plain:
                head = column.head(2000).drop_nulls()
                pointed = head.filter(head.str.contains(".", literal=True))
                votes["."] += bool((~pointed.str.contains(r"^\s*[+-]?\d{1,3}(\.\d{3})+\s*$")).any())
                continue
            cells = known_cells(column.head(2000), spelling.na).drop_nulls().unique()
            marks = decimal_marks(cells) if len(cells) else set()
            if len(marks) == 1 and len(parse_numbers(cells, next(iter(marks))).drop_nulls()) >= 0.9 * len(cells):
                votes[next(iter(marks))] += 1
    if votes["."] != votes[","]:
        return max(votes, key=lambda mark: votes[mark])
    return "," if table.separator == ";" and votes[","] else "."


def _column(table: Table, column: polars.Series, spelling: Spelling, decimal: str, keep: bool) -> Column:
    import polars

    name, asked = column.name, spelling.kinds.get(column.name)
    if asked == "drop":
        return Column(name, "drop", "asked for")
    cells = column
    if column.dtype not in (polars.String, polars.Categorical, polars.Enum):
        return _typed_column(table, column, asked, keep)
    cells = known_cells(column, spelling.na).drop_nulls()
    if asked is not None:
        return _asked_column(table, name, cells, asked, spelling, decimal)
    if not len(cells):
        return Column(name, "empty", "every cell is missing")
    found = _as_numbers(name, cells, decimal, spelling.decimal is not None, keep) or _as_dates(
        table, name, cells, spelling
    )
    if found is not None and found.kind == "number":
        return _unless_identifier(found, parse_numbers(cells, found.decimal).drop_nulls().to_numpy(), len(column), keep)
    return found or _as_words(name, cells, keep)


def _typed_column(table: Table, column: polars.Series, asked: str | None, keep: bool) -> Column:
    """Interpret a typed column of a Parquet file or data frame."""
    import polars

    name, dtype = column.name, column.dtype
    if column.null_count() == len(column):
        return Column(name, "empty", "every cell is missing")
    if asked is not None:
        return Column(name, asked, "asked for")
    if dtype == polars.Boolean:
        return Column(name, "boolean", "true and false")
    if dtype.is_numeric():
        numbers = column.drop_nulls().to_numpy()
        return _unless_identifier(Column(name, "number", "a column of numbers"), numbers, len(column), keep)
    if dtype in (polars.Date, polars.Datetime, polars.Time):
        return Column(name, "date", "a column of dates")
    raise InvalidData(
        f"{table.source}: column {name!r} holds {str(dtype).lower()} values; expected numbers, texts, booleans or dates. "
        f"Leave it out with {column_option(name, 'drop')}, or convert it."
    )


def _asked_column(
    table: Table, name: str, cells: polars.Series, asked: str, spelling: Spelling, decimal: str
) -> Column:
    if asked == "date":
        found = _as_dates(table, name, cells, spelling)
        if found is None:
            raise InvalidData(f"{table.source}: column {name!r} was to be a date, but holds {cells[0]!r}.")
        return found._replace(why="asked for")
    if asked == "number":
        marks = decimal_marks(cells)
        if not marks:
            raise InvalidData(f"{table.source}: column {name!r} was to be a number, but holds {cells[0]!r}.")
        return Column(name, "number", "asked for", decimal if decimal in marks else next(iter(marks)))
    return Column(name, asked, "asked for")


def _as_numbers(name: str, cells: polars.Series, decimal: str, fixed: bool, keep: bool) -> Column | None:
    marks = {decimal} if fixed else decimal_marks(cells.unique())
    if not marks:
        return None
    mark = decimal if decimal in marks else next(iter(marks))
    spoiled = cells.filter(parse_numbers(cells, mark).is_null())
    numbers = len(cells) - len(spoiled)
    different = spoiled.n_unique() if len(spoiled) else 0
    if numbers < 0.95 * len(cells) and not (different <= FEW_SPOILED and numbers >= 0.5 * len(cells) > 10):
        return None
    if numbers < 0.5 * len(cells) or (keep and len(spoiled)):
        return None
    codes = cells.str.contains(r"^0\d+$")
    if codes.any() and cells.str.len_chars().n_unique() == 1:
        return _as_words(name, cells, keep)._replace(note="Codes with leading zeros are categories, not numbers.")
    ambiguous = len(marks) == 2 and bool(cells.str.contains(r"^[^.,]*[.,]\d{3}$").any())
    notes = []
    if ambiguous and not fixed:
        notes.append(f"{cells.filter(cells.str.contains('[.,]'))[0]!r} was read with decimal {mark!r}; see --decimal.")
    if len(spoiled):
        shown = ", ".join(repr(each) for each in spoiled.unique(maintain_order=True).head(3).to_list())
        notes.append(
            f"{counted(len(spoiled), 'cell is', 'cells are')} not numbers ({shown}) and count as missing; "
            f"{column_option(name, 'category')} keeps them."
        )
    removed = marks_in(cells)
    why = "numbers" + (f" without the {removed}" if removed else "") + (", decimal comma" if mark == "," else "")
    return Column(name, "number", why, mark, note=" ".join(notes))


def _as_dates(table: Table, name: str, cells: polars.Series, spelling: Spelling) -> Column | None:
    orders = date_orders(cells)
    if not orders:
        return None
    if is_ambiguous(orders):
        if spelling.dates is None:
            raise InvalidData(
                f"{table.source}: column {name!r}: is {cells[0]!r} written day first or month first? Say --dates dmy or --dates "
                f"mdy, or leave the column out with {column_option(name, 'drop')}."
            )
        orders = [spelling.dates]
    words = {"ymd": "year first", "dmy": "day first", "mdy": "month first", "named": "month by name"}
    return Column(name, "date", f"dates, {words[orders[0]]}", order=orders[0])


def _as_words(name: str, cells: polars.Series, keep: bool) -> Column:
    levels, n = cells.n_unique(), len(cells)
    if set(cells.str.to_lowercase().unique().to_list()) <= set(BOOLEANS) and levels <= 4:
        return Column(
            name, "boolean", "yes and no" if cells.str.to_lowercase().is_in(["yes", "no"]).any() else "true and false"
        )
    if keep:
        return Column(name, "category", counted(levels, "level"))
    words = float(np.mean(cells.head(1000).str.count_matches(" ").to_numpy())) + 1.0
    if words >= WORDS_OF_TEXT and levels > 0.5 * n:
        return Column(name, "text", f"free text, {words:.0f} words per cell on average")
    if n > 10 and (levels > 0.9 * n or levels > max(MOST_LEVELS_OF_CATEGORY, 0.5 * n)):
        what = (
            "different in every row" if levels == n else f"{counted(levels, 'different text')} in {counted(n, 'row')}"
        )
        return Column(name, "identifier", what, note=f"Left out; {column_option(name, 'category')} keeps it.")
    return Column(name, "category", counted(levels, "level"))


def _unless_identifier(column: Column, numbers: np.ndarray, rows: int, keep: bool) -> Column:
    """Return the column as an identifier if it numbers the rows, or has the name of a key and distinct values."""
    if keep or rows <= 10 or len(numbers) < rows:
        return column
    whole = bool(np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers)))
    if not whole or len(np.unique(numbers)) < rows:
        return column
    counts = bool(np.all(np.diff(numbers) == 1))
    if not counts and not IDENTIFIER_NAME.search(column.name):
        return column
    why = "counts the rows" if counts else "a whole number that is different in every row"
    return column._replace(
        kind="identifier", why=why, note=f"Left out; {column_option(column.name, 'number')} keeps it."
    )


def interpret(table: Table) -> Table:
    """Return a table with every column typed as interpreted; nothing is dropped, imputed or encoded.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import as_table, interpret
    >>> interpret(as_table(polars.DataFrame({"n": ["1", "2"], "t": ["a", "b"]}))).frame.dtypes
    [Float64, String]
    """
    columns = describe(table, keep=tuple(table.frame.columns))
    return typed(table, [c._replace(kind="number" if c.kind == "empty" else c.kind) for c in columns])
