"""What the cells of a column are: numbers, truth values, dates, text; and how each becomes a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars

#: Texts that stand for "not known" in a column of numbers. In a column of text they are texts like any other.
MISSING = ("", "-", "?", ".", "na", "n/a", "#n/a", "nan", "none", "null", "missing")

ISO_DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?$"
OTHER_DATE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}( .*)?$"

MICROSECONDS_A_DAY = 86_400_000_000
NANOSECONDS_AN_HOUR = 3_600_000_000_000


def settled(column: polars.Series) -> polars.Series:
    """Return a column of texts as numbers or dates if all its cells are such; other columns unchanged.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables.cells import settled
    >>> settled(polars.Series(["+1", ".5", "NA"])).to_list()
    [1.0, 0.5, None]
    >>> settled(polars.Series(["1", "two"])).to_list()
    ['1', 'two']
    """
    import polars

    if column.dtype != polars.String:
        return column
    column = column.str.strip_chars()
    column = column.set(column == "", None)
    unknown = column.str.to_lowercase().is_in(MISSING)
    known = column.set(unknown.fill_null(False), None)
    numbers = known.cast(polars.Float64, strict=False)
    if numbers.null_count() == known.null_count() and known.null_count() < len(known):
        return numbers
    if known.null_count() < len(known) and known.drop_nulls().str.contains(ISO_DATE).all():
        dates = known.str.replace("T", " ").str.strip_suffix("Z")
        moments = polars.select(
            polars.coalesce(
                dates.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us"),
                dates.str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us"),
                dates.str.to_date("%Y-%m-%d", strict=False).cast(polars.Datetime("us")),
            )
        ).to_series()
        if moments.null_count() == known.null_count():
            return moments.alias(column.name)
    return column


def kind_of(column: polars.Series) -> str:
    """Return ``number``, ``boolean``, ``date``, ``time``, ``text``, ``empty``, or ``other`` for what no model can use."""
    import polars

    dtype = column.dtype
    if column.null_count() == len(column):
        return "empty"
    if dtype == polars.Boolean:
        return "boolean"
    if dtype.is_numeric():
        return "number"
    if dtype == polars.Date or dtype == polars.Datetime:
        return "date"
    if dtype == polars.Time:
        return "time"
    if dtype in (polars.String, polars.Categorical, polars.Enum):
        return "text"
    return "other"


def as_numbers(column: polars.Series) -> np.ndarray:
    """Return the cells as float64; what is missing, or is no number, becomes NaN.

    Truth values become 0 and 1, dates days since 1970-01-01 (with a fraction for the time of day, as in UTC where a zone is
    known), times of day hours since midnight, and texts the number they spell.

    Examples
    --------
    >>> from datetime import date, datetime, time
    >>> import polars
    >>> from surefit.tables.cells import as_numbers
    >>> as_numbers(polars.Series([date(1970, 1, 3), None]))
    array([ 2., nan])
    >>> as_numbers(polars.Series([datetime(1970, 1, 2, 18)])), as_numbers(polars.Series([time(6, 30)]))
    (array([1.75]), array([6.5]))
    """
    import polars

    kind = kind_of(column)
    if kind == "date":
        column = column.cast(polars.Datetime("us")) if column.dtype == polars.Date else column
        return column.dt.epoch("us").cast(polars.Float64).to_numpy() / MICROSECONDS_A_DAY
    if kind == "time":
        return column.cast(polars.Int64).cast(polars.Float64).to_numpy() / NANOSECONDS_AN_HOUR
    if kind == "text":
        column = column.cast(polars.String).str.strip_chars()
    return column.cast(polars.Float64, strict=False).to_numpy()


def as_texts(column: polars.Series) -> polars.Series:
    """Return the cells as texts, blanks around them removed; missing cells stay missing."""
    import polars

    if column.dtype.is_float() and column.drop_nulls().is_finite().all() and (column.drop_nulls() % 1 == 0).all():
        column = column.cast(polars.Int64, strict=False)  # codes that became floats because of a missing cell
    return column.cast(polars.String).str.strip_chars()
