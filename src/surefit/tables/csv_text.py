"""CSV files as text: encoding, separator, header, and rows of unequal length."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

from surefit.core.errors import InvalidData

SEPARATORS = ",;\t|"
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Header(NamedTuple):
    """The first row of a CSV file."""

    separator: str
    names: list[str]


def decode(source: str, content: bytes, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file and notes about its encoding; raise ``InvalidData`` if it is not text.

    Examples
    --------
    >>> from surefit.tables.csv_text import decode
    >>> decode("a.csv", "Zürich, 7 €".encode("cp1252"), None)[0]
    'Zürich, 7 €'
    """
    if encoding is not None:
        try:
            return content.decode(encoding).removeprefix("\ufeff"), ()
        except LookupError:
            raise InvalidData(f"{source}: the encoding {encoding!r} is not known; try utf-8 or latin-1.") from None
        except UnicodeDecodeError as error:
            raise _not_text(source, content, error, encoding) from None
    for mark, name in MARKS:
        if content.startswith(mark):
            try:
                return content.decode(name), ()
            except UnicodeDecodeError as error:
                raise _not_text(source, content, error, name) from None
    if b"\x00" in content[:4096]:
        return _decode_nulls(source, content), ()
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        text = _decode_western(content)
        if sum(not (c.isprintable() or c in "\t\r\n") for c in text[:4096]) > 0.02 * len(text[:4096]):
            raise _no_table(source) from None
        row = content.count(b"\n", 0, error.start) + 1
        return text, (
            f"The file is not UTF-8 (row {row}); it was read as Windows-1252 (Latin-1 with the euro sign). "
            "If letters look wrong, give --encoding.",
        )


def _decode_western(content: bytes) -> str:
    """Decode Windows-1252, which extends Latin-1 by the euro sign and quotes and leaves five bytes undefined."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _decode_nulls(source: str, content: bytes) -> str:
    """Decode UTF-16 without a byte order mark, with a null in every second byte; otherwise, the file is binary."""
    head = content[: 4096 & ~1]
    for name, nulls in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if nulls.count(0) > 0.8 * len(nulls):
            return content.decode(name, errors="replace")
    raise _no_table(source)


def _no_table(source: str) -> InvalidData:
    return InvalidData(f"{source}: this is a binary file, not a table; export the table as CSV or Parquet.")


def _not_text(source: str, content: bytes, error: UnicodeDecodeError, encoding: str) -> InvalidData:
    row = content.count(b"\n", 0, error.start) + 1
    return InvalidData(
        f"{source}: row {row} contains the byte 0x{content[error.start]:02X}, which is not {encoding} text; give another --encoding."
    )


def read_header(source: str, text: str) -> Header:
    """Return the separator and the column names; raise ``InvalidData`` if there is no usable header."""
    first = text.split("\n", 1)[0]
    outside_quotes = "".join(first.split('"')[::2])
    separator = max(SEPARATORS, key=outside_quotes.count)  # ties go to the comma
    try:
        names = [name.strip() for name in next(_records(text, separator), [])]
    except csv.Error as error:
        raise InvalidData(f"{source}: not a readable CSV file ({error}).") from None
    if not any(names):
        raise InvalidData(f"{source}: the file is empty; expected a row of column names, then rows of cells.")
    for place, name in enumerate(names):
        if name and name in names[:place]:
            raise InvalidData(
                f"{source}: the column name {name!r} occurs twice (columns {names.index(name) + 1} and {place + 1}); "
                "give every column its own name."
            )
        if not name and place > 0:  # the first may be a row counter, which is dropped
            raise InvalidData(f"{source}: column {place + 1} has no name in the header; give every column a name.")
    return Header(separator, names)


def _records(text: str, separator: str):
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def uneven_row(source: str, text: str, header: Header) -> InvalidData | None:
    """Return the error about the first row whose number of cells differs from the header, or None."""
    expected = len(header.names)
    try:
        for number, record in enumerate(_records(text, header.separator), start=1):
            if record and len(record) != expected:
                return InvalidData(
                    f"{source}: row {number} has {len(record)} cells, but the header (row 1) has {expected}; cells are "
                    f"separated by {NAMES[header.separator]}. Correct that row (a cell that contains the separator "
                    "needs quotes)."
                )
    except csv.Error as error:
        return InvalidData(f"{source}: not a readable CSV file ({error}).")
    return None
