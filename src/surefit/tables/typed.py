"""Typed cells: text becomes numbers, datetimes or levels, according to the interpretation of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from surefit.core.text import counted
from surefit.tables.dates import parse_dates
from surefit.tables.numbers import parse_numbers
from surefit.tables.table import Table

if TYPE_CHECKING:
    import polars

#: Texts for missing values, in every kind of column (compared in lower case).
MISSING = (
    "",
    "-",
    "--",
    "?",
    ".",
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "nan",
    "none",
    "null",
    "nil",
    "missing",
    "#value!",
    "#div/0!",
)
BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0, "y": 1.0, "n": 0.0}
#: Kinds that are used as features.
USED = ("number", "boolean", "category", "date", "text")


class Column(NamedTuple):
    """Kind of a column, the reason for it, and the spelling of its cells."""

    name: str
    kind: str
    why: str
    decimal: str = "."
    order: str = ""
    note: str = ""

    @property
    def used(self) -> bool:
        """Whether the column is used for features."""
        return self.kind in USED


def known_cells(column: polars.Series, na: tuple[str, ...] = ()) -> polars.Series:
    """Return the cells as stripped text; null where the text means a missing value."""
    import polars

    cells = column.cast(polars.String).str.strip_chars()
    missing = cells.is_in(["", *na]) if na else cells.str.to_lowercase().is_in(list(MISSING))
    return cells.set(missing.fill_null(False), None)


def typed(table: Table, columns: list[Column], na: tuple[str, ...] = ()) -> Table:
    """Return the table with cells typed as in ``columns`` (float64, text or datetime); other columns are dropped.

    A column that is missing from the table raises an error. Cells that do not fit their column become missing, with a note.
    """
    table.require(column.name for column in columns)
    found, notes = [], []
    plain = {} if na else plain_numbers(table.frame.select([column.name for column in columns]))
    for column in columns:
        if column.name in plain and column.kind == "number" and column.decimal == ".":
            found.append(plain[column.name])
            continue
        cells = table.frame[column.name]
        values = typed_column(cells, column, na)
        spoiled = values.null_count() - _missing(cells, na)
        if spoiled > 0 and "count as missing" not in column.note:
            notes.append(
                f"Column {column.name!r}: {counted(spoiled, 'cell is', 'cells are')} not a {column.kind}; missing values instead."
            )
        found.append(values)
    return table._replace(frame=type(table.frame)(found)).noted(*notes)


def plain_numbers(frame: polars.DataFrame) -> dict[str, polars.Series]:
    """Return the text columns that contain only plain numbers, in one step for speed on wide tables."""
    import polars

    names = [name for name, dtype in frame.schema.items() if dtype == polars.String]
    if not names:
        return {}
    texts = frame.select(names)
    numbers = texts.select(polars.all().cast(polars.Float64, strict=False))
    odd = texts.select(polars.all().str.contains(r"^0\d|[nN]").any()).row(0)  # codes with leading zeros, nan and inf
    pairs = zip(names, texts.null_count().row(0), numbers.null_count().row(0), odd, strict=True)
    return {name: numbers[name] for name, a, b, strange in pairs if a == b < frame.height and not strange}


def _missing(cells: polars.Series, na: tuple[str, ...]) -> int:
    import polars

    if cells.dtype == polars.String:
        return known_cells(cells, na).null_count()
    return cells.null_count() + (int(cells.is_nan().sum()) if cells.dtype.is_float() else 0)


def typed_column(cells: polars.Series, column: Column, na: tuple[str, ...] = ()) -> polars.Series:
    """Return the typed cells of one column."""
    import polars

    text = cells.dtype in (polars.String, polars.Categorical, polars.Enum)
    if column.kind in ("number", "boolean"):
        if not text:
            numbers = cells.cast(polars.Float64)
        elif column.kind == "boolean":
            numbers = (
                known_cells(cells, na)
                .str.to_lowercase()
                .replace_strict(BOOLEANS, default=None, return_dtype=polars.Float64)
            )
        else:
            numbers = parse_numbers(known_cells(cells, na), column.decimal)
        return numbers.fill_nan(None)
    if column.kind == "date":
        if text:
            return parse_dates(known_cells(cells, na), column.order or "ymd")
        return _moments(cells)
    if cells.dtype.is_float() and (cells.drop_nulls() % 1 == 0).all():
        cells = cells.fill_nan(None).cast(polars.Int64, strict=False)  # integer codes stored as floats
    return known_cells(cells, na)


def _moments(cells: polars.Series) -> polars.Series:
    import polars

    if cells.dtype == polars.Time:
        nanoseconds = cells.cast(polars.Int64)
        return (nanoseconds // 1000).cast(polars.Datetime("us")).alias(cells.name)
    return cells.cast(polars.Datetime("us"))
