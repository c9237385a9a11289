"""Parsing of dates: ISO, European and American formats, with or without time of day."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

DATE = r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
CLOCK = r"[T ](\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?\s*$"
#: Order of day, month and year -> formats, tried in turn.
FORMATS = {
    "ymd": ("%Y-%m-%d",),
    "dmy": ("%d-%m-%Y", "%d-%m-%y"),
    "mdy": ("%m-%d-%Y", "%m-%d-%y"),
    "named": ("%d-%b-%Y", "%d-%B-%Y", "%b-%d-%Y", "%B-%d-%Y"),
}


def parse_dates(cells: polars.Series, order: str) -> polars.Series:
    """Return texts as datetimes, null where a cell is not a date in this order of day, month and year.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables.dates import parse_dates
    >>> parse_dates(polars.Series(["3.4.2020", "24/12/2021 18:30", "12/24/2021"]), "dmy").dt.strftime("%F %R").to_list()
    ['2020-04-03 00:00', '2021-12-24 18:30', None]
    """
    import polars

    day = cells.str.extract(DATE).str.replace_all(r"[/. ,]+", "-")
    tried = [day.str.to_date(form, strict=False).cast(polars.Datetime("us")) for form in FORMATS[order]]
    moment = polars.select(polars.coalesce(tried)).to_series()
    clock = [cells.str.extract(CLOCK, part).cast(polars.Float64, strict=False).fill_null(0.0) for part in (1, 2, 3)]
    half = cells.str.extract(CLOCK, 4).str.to_lowercase()
    hours = clock[0] % 12 + 12.0 * (half == "pm").cast(polars.Float64)
    hours = polars.select(polars.when(half.is_not_null()).then(hours).otherwise(clock[0])).to_series()
    seconds = 3600.0 * hours + 60.0 * clock[1] + clock[2]
    rest = cells.str.replace(DATE, "").str.strip_chars()
    whole = (rest == "") | cells.str.contains(CLOCK)
    found = moment + (seconds * 1e6).cast(polars.Int64).cast(polars.Duration("us"))
    return found.set(~whole.fill_null(False), None).alias(cells.name)


def date_orders(cells: polars.Series) -> list[str]:
    """Return the orders of day, month and year under which most cells are dates; empty if fewer than 98 % are."""
    if not cells.head(200).str.contains(DATE).any():
        return []
    counts = {order: len(cells) - parse_dates(cells, order).null_count() for order in FORMATS}
    most = max(counts.values())
    return [order for order, count in counts.items() if count == most] if most >= 0.98 * len(cells) else []


def is_ambiguous(orders: list[str]) -> bool:
    """Return whether the day and the month cannot be distinguished."""
    return "dmy" in orders and "mdy" in orders
