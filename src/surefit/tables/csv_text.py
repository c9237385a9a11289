"""CSV files as text: what a table reader does not say about them (separator, header, uneven rows, wrong bytes)."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from surefit.core.errors import InvalidData

SEPARATORS = ",;\t|"
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class Header(NamedTuple):
    """The first row of a CSV file."""

    separator: str
    names: list[str]


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; a gzip file is unpacked on the way."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.open(file) if packed else file  # type: ignore[misc]


def _records(path: Path, separator: str) -> Iterator[list[str]]:
    with open_bytes(path) as file:
        text = (line.decode("utf-8-sig" if i == 0 else "utf-8") for i, line in enumerate(file))
        yield from csv.reader(text, delimiter=separator)


def read_header(path: Path) -> Header:
    """Return the separator and the column names; refuse a file without a usable header."""
    try:
        with open_bytes(path) as file:
            first = file.readline().decode("utf-8-sig")
        outside_quotes = "".join(first.split('"')[::2])
        separator = max(SEPARATORS, key=outside_quotes.count)  # the comma wins a tie
        names = next(_records(path, separator), [])
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    except (csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise InvalidData(f"{path}: not a readable CSV file ({error}).") from None
    names = [name.strip() for name in names]
    if not any(names):
        raise InvalidData(f"{path}: the file is empty; expected a row of column names, then rows of cells.")
    _require_names(path, names)
    return Header(separator, names)


def _require_names(path: Path, names: list[str]) -> None:
    for place, name in enumerate(names):
        if name and name in names[:place]:
            raise InvalidData(
                f"{path}: the column name {name!r} occurs twice (columns {names.index(name) + 1} and {place + 1}); "
                "give every column its own name."
            )
        if not name and place > 0:  # the first may be a row counter, which is left out
            raise InvalidData(f"{path}: column {place + 1} has no name in the header; give every column a name.")


def uneven_row(path: Path, header: Header) -> InvalidData | None:
    """Return the error about the first row that has not as many cells as the header, or None."""
    expected = len(header.names)
    try:
        for number, record in enumerate(_records(path, header.separator), start=1):
            if record and len(record) != expected:
                return InvalidData(
                    f"{path}: row {number} has {len(record)} cells, but the header (row 1) has {expected}; cells are "
                    f"separated by {NAMES[header.separator]}. Correct that row (a cell that contains the separator "
                    "needs quotes)."
                )
    except csv.Error as error:
        return InvalidData(f"{path}: not a readable CSV file ({error}).")
    except UnicodeDecodeError:
        return not_utf8(path)
    return None


def not_utf8(path: Path) -> InvalidData:
    """Return the error that names the first byte that is not UTF-8, and its row."""
    with open_bytes(path) as file:
        content = file.read()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        return InvalidData(
            f"{path}: row {row} contains the byte 0x{content[error.start]:02X}, which is not UTF-8 text; "
            "save the file as CSV in UTF-8."
        )
    return InvalidData(f"{path}: not readable as UTF-8 text; save the file as CSV in UTF-8.")
