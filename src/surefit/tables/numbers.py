"""Parsing of numbers: decimal commas, thousands separators, currencies, percent signs, parentheses for negative numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

CURRENCY = r"(?:[$€£¥₹₽₩₺]|US\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|CNY|BRL)"
#: Context of the digits: parentheses (negative), a sign, a currency before or after, a percent sign.
PREFIX = rf"^\s*(?P<sign>[+\-−(]?)\s*(?:{CURRENCY})?\s*(?P<inner>[+\-−]?)"
SUFFIX = rf"\s*(?:{CURRENCY}|%)?\s*\)?\s*$"
POINT = r"^[+-]?(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?$"
COMMA = r"^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d*)(?:,\d*)?(?:[eE][+-]?\d+)?$"
INFINITE = r"^[+-]?(?:inf|infinity)$"


def parse_numbers(cells: polars.Series, decimal: str) -> polars.Series:
    """Return texts as float64, null where a cell is not a number with this decimal mark.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables.numbers import parse_numbers
    >>> parse_numbers(polars.Series(["$1,020.50", "(3)", "12 %", "one"]), ".").to_list()
    [1020.5, -3.0, 12.0, None]
    >>> parse_numbers(polars.Series(["1.020,50 €", "-3", "1 234,5"]), ",").to_list()
    [1020.5, -3.0, 1234.5]
    """
    import polars

    plain = cells.str.strip_chars().cast(polars.Float64, strict=False)  # most columns are plain numbers
    if decimal == "." and plain.null_count() == cells.null_count():
        return plain
    digits = bare(cells)
    allowed = digits.str.contains(POINT if decimal == "." else COMMA) & digits.str.contains(r"\d")
    infinite = digits.str.to_lowercase().str.contains(INFINITE)
    thousands = "," if decimal == "." else "."
    written = digits.str.replace_all(thousands, "", literal=True).str.replace(decimal, ".", literal=True)
    numbers = written.cast(polars.Float64, strict=False)
    return numbers.set(~(allowed | infinite).fill_null(False), None).alias(cells.name)


def bare(cells: polars.Series) -> polars.Series:
    """Return the cells without currency, percent sign, and spaces or apostrophes between digits; parentheses become a minus."""
    import polars

    sign = cells.str.extract(PREFIX, 1)
    inner = cells.str.extract(PREFIX, 2)
    rest = cells.str.replace(PREFIX, "").str.replace(SUFFIX, "").str.replace_all(r"(\d)[\s'’](\d{3})", "$1$2")
    rest = rest.str.replace_all(r"(\d)[\s'’](\d{3})", "$1$2")  # overlapping groups of digits need a second pass
    negative = sign.is_in(["-", "−", "("]) != inner.is_in(["-", "−"])
    frame = polars.DataFrame({"rest": rest, "negative": negative})
    signed = polars.when("negative").then(polars.lit("-") + polars.col("rest")).otherwise(polars.col("rest"))
    return frame.select(signed.alias(cells.name)).to_series()


def decimal_marks(cells: polars.Series) -> set[str]:
    """Return the decimal marks under which most cells are numbers: one of them, or both if the result is the same."""
    counts = {mark: len(cells) - parse_numbers(cells, mark).null_count() for mark in ".,"}
    most = max(counts.values())
    return {mark for mark, count in counts.items() if count == most and most > 0}


def marks_in(cells: polars.Series) -> str:
    """Return the kinds of marks removed from the cells of a number column, such as ``currency`` or ``percent sign``."""
    found = []
    if cells.str.contains(r"%\s*\)?\s*$").any():
        found.append("percent sign")
    if cells.str.contains(rf"{CURRENCY}").any():
        found.append("currency")
    return " and ".join(found)
