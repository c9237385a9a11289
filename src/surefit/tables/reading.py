"""Reading of files into tables of cells; errors are reported in one sentence."""

from __future__ import annotations

import io
import re
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.guards.expansion import gunzipped, limit
from surefit.core.text import counted
from surefit.tables.csv_text import Header, decode, read_header, uneven_row
from surefit.tables.table import Table

if TYPE_CHECKING:
    import polars

FIRST_ROW_OF_CSV = 2  # the header is row 1 for users
LIBSVM_LINE = re.compile(rb"^[+-]?[\d.]+(?:[eE][+-]?\d+)?(?:\s+\d+:[+-]?[\d.]+(?:[eE][+-]?\d+)?)+\s*(?:#.*)?$")
MOST_LIBSVM_CELLS = 100_000_000
STANDARD_INPUT = "-"


def read_table(path: str | Path, *, encoding: str | None = None) -> Table:
    r"""Read a file: CSV (comma, semicolon, tab or bar), also gzipped, Parquet, Arrow or LIBSVM; ``-`` is standard input.

    Cells of text files remain text: :func:`surefit.tables.interpret` determines the kinds of columns.

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str or None
        Encoding of a text file; None: UTF-8, UTF-16, else Windows-1252 (Latin-1 with the euro sign) with a note.

    Returns
    -------
    Table
        Cells with the row numbers of the file.

    Raises
    ------
    InvalidData
        If the file is missing, empty, not a table, has rows of unequal length, or names a column twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surefit.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("age,town\n31,Delft\n47,Ghent\n")
    ...     table = read_table(file)
    >>> table.frame.columns, table.rows.tolist()
    (['age', 'town'], [2, 3])
    """
    source = "standard input" if str(path) == STANDARD_INPUT else str(path)
    content = sys.stdin.buffer.read() if str(path) == STANDARD_INPUT else _bytes_of(Path(path))
    content = _unpacked(source, content)
    if content[:4] == b"PAR1":
        return _binary(source, content, "Parquet")
    if content[:6] == b"ARROW1":
        return _binary(source, content, "Arrow")
    if content[:4] == b"PK\x03\x04":
        raise InvalidData(f"{source}: this is a spreadsheet or an archive; export the table as CSV or Parquet.")
    if LIBSVM_LINE.match(content.split(b"\n", 1)[0].rstrip(b"\r")):
        return _libsvm(source, content)
    return _csv(source, content, encoding)


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidData(f"{path}: this is a folder; name a CSV or Parquet file in it.")
    if path.exists() and not path.is_file() and not path.is_fifo():
        raise InvalidData(f"{path}: this is not a regular file; save the table to a CSV or Parquet file first.")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = _similar_file(path)
        hint = f"; did you mean {near}?" if near else "; check the name and the folder."
        raise InvalidData(f"{path}: there is no such file{hint}") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read ({error.strerror}).") from None


def _similar_file(path: Path) -> str | None:
    from difflib import get_close_matches

    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    close = get_close_matches(path.name, names, n=1, cutoff=0.75)
    return str(path.parent / close[0]) if close else None


def _unpacked(source: str, content: bytes) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        text = gunzipped(content)
    except (EOFError, zlib.error) as error:
        raise InvalidData(f"{source}: not a readable gzip file ({error}).") from None
    return _require_proportion(source, len(content), text)


def _require_proportion(source: str, packed: int, content: Any) -> Any:
    """Return ``content``; raise ``InvalidData`` if it is None, because it is too large for the size of the file."""
    if content is None:
        raise InvalidData(
            f"{source}: {counted(packed, 'byte unpacks', 'bytes unpack')} to more than {limit(packed) // 2**20} MB, too much for a table; "
            "unpack the file yourself if you trust it."
        )
    return content


def _binary(source: str, content: bytes, form: str) -> Table:
    import polars

    reader = polars.read_parquet if form == "Parquet" else polars.read_ipc
    try:
        if form == "Parquet":
            lazy = polars.scan_parquet(io.BytesIO(content))
            cells = lazy.select(polars.len()).collect().item() * len(lazy.collect_schema())
            _require_proportion(source, len(content), None if 8 * cells > limit(len(content)) else content)
        frame = reader(io.BytesIO(content))
    except InvalidData:
        raise
    except (Exception, polars.exceptions.PanicException) as error:  # any error means that the file is not usable
        raise InvalidData(f"{source}: not a readable {form} file ({_first_line(error)}).") from None
    return _require_rows(Table(frame, np.arange(1, len(frame) + 1), source))


def _libsvm(source: str, content: bytes) -> Table:
    """Read rows of ``label index:value ...``; the label becomes the column ``target``."""
    import polars
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(content))
    except ValueError as error:
        raise InvalidData(f"{source}: not a readable LIBSVM file ({_first_line(error)}).") from None
    if X.shape[0] * X.shape[1] > MOST_LIBSVM_CELLS:
        raise InvalidData(
            f"{source}: {X.shape[0]} rows of {X.shape[1]} features are too many for a dense table; keep fewer features."
        )
    dense = X.toarray()
    frame = polars.DataFrame({"target": y} | {f"x{j + 1}": dense[:, j] for j in range(X.shape[1])})
    return Table(frame, np.arange(1, len(frame) + 1), source).noted(
        "This is a LIBSVM file: its labels are the column 'target'."
    )


def _csv(source: str, content: bytes, encoding: str | None) -> Table:
    text, notes = decode(source, content, encoding)
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    header = read_header(source, text)
    frame = _parse(source, text, header)
    if frame.height and frame[:, -1].null_count() and (error := uneven_row(source, text, header)):
        raise error  # short rows would be read as missing cells
    rows = np.arange(FIRST_ROW_OF_CSV, FIRST_ROW_OF_CSV + frame.height)
    table = _without_blank_rows(Table(frame, rows, source, notes, header.separator))
    return _require_rows(_without_row_counter(table))


def _parse(source: str, text: str, header: Header) -> polars.DataFrame:
    import polars

    try:
        frame = polars.read_csv(
            text.encode(),
            separator=header.separator,
            new_columns=header.names,  # the reader does not strip spaces around names
            infer_schema=False,
        )
    except polars.exceptions.NoDataError:
        raise _no_rows(source) from None
    except polars.exceptions.PolarsError as error:
        raise uneven_row(source, text, header) or InvalidData(
            f"{source}: not a readable CSV file ({_first_line(error)})."
        ) from None
    if frame.columns != header.names:
        raise uneven_row(source, text, header) or InvalidData(f"{source}: rows and header do not match.")
    return frame


def _without_blank_rows(table: Table) -> Table:
    import polars

    if not table.frame.height or not table.frame[:, 0].null_count():
        return table
    blank = table.frame.select(polars.all_horizontal(polars.all().is_null())).to_series().to_numpy()
    if not blank.any():
        return table
    inside = int(blank[: np.flatnonzero(~blank)[-1]].sum()) if not blank.all() else 0
    kept = table.take(np.flatnonzero(~blank))
    said = f"{counted(inside, 'blank row was', 'blank rows were')} left out, the first is row {table.rows[blank][0]}."
    return kept.noted(said) if inside else kept


def _without_row_counter(table: Table) -> Table:
    """Drop a first column without a name if it only counts the rows (pandas writes one by default)."""
    import polars

    frame = table.frame
    if frame.columns[0]:
        return table
    counter = frame[:, 0].cast(polars.Int64, strict=False)
    starts = frame.height > 0 and counter[0] in (0, 1)
    if not starts or not np.array_equal(counter.to_numpy(), np.arange(frame.height) + counter[0]):
        raise InvalidData(f"{table.source}: column 1 has no name in the header; give every column a name.")
    said = "The first column has no name and only counts the rows; it was left out."
    return table._replace(frame=frame[:, 1:]).noted(said)


def _require_rows(table: Table) -> Table:
    if not table.frame.width or not table.frame.height:
        raise _no_rows(table.source)
    return table


def _no_rows(source: str) -> InvalidData:
    return InvalidData(f"{source}: there are no rows of data below the header; add some.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
