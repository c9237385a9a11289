"""Reading CSV and Parquet files into tables; whatever is wrong with a file is said in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefit.core.errors import InvalidData
from surefit.data import load_diabetes
from surefit.tables.cells import settled
from surefit.tables.csv_text import Header, not_utf8, read_header, uneven_row
from surefit.tables.table import Table

if TYPE_CHECKING:
    import polars

FIRST_ROW_OF_CSV = 2  # people see the header as row 1


def read_table(path: str | Path, text_columns: tuple[str, ...] = ()) -> Table:
    r"""Read a CSV file (any of the usual separators, gzip allowed) or a Parquet file.

    Cells are interpreted a column at a time: a column is numbers if all its cells are (blank cells, ``NA``, ``nan`` and the
    like are missing ones), dates if all are written YYYY-MM-DD (optionally with a time), else text.

    Parameters
    ----------
    path : str or Path
        The file.
    text_columns : tuple of str
        CSV columns to read as text even if every cell is a number, such as codes that were text in another file.

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
    path = Path(path)
    start = _first_bytes(path)
    if path.suffix.lower() in (".parquet", ".pq") or start == b"PAR1":
        return _read_parquet(path)
    if start == b"PK\x03\x04":
        raise InvalidData(f"{path}: this is a spreadsheet or an archive; export the table as CSV or Parquet.")
    return _read_csv(path, text_columns)


def builtin_table() -> Table:
    """Return the built-in diabetes data (see :func:`surefit.data.load_diabetes`) as a table; the target is ``progression``.

    Examples
    --------
    >>> from surefit.tables import builtin_table
    >>> builtin_table().frame.shape
    (442, 11)
    """
    import polars

    data = load_diabetes()
    columns = {name: data.X[:, j] for j, name in enumerate(data.feature_names)}
    columns["sex"] = np.where(columns["sex"] == 1, "code 1", "code 2")
    frame = polars.DataFrame({**columns, data.target_name: data.y})
    return Table(frame, np.arange(1, len(frame) + 1), f"built-in data set {data.name!r}")


def _first_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidData(f"{path}: this is a folder; name a CSV or Parquet file in it.")
    if path.exists() and not path.is_file():
        raise InvalidData(f"{path}: this is not a regular file; save the table to a CSV or Parquet file first.")
    try:
        with open(path, "rb") as file:
            return file.read(4)
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


def _read_parquet(path: Path) -> Table:
    import polars

    try:
        frame = polars.read_parquet(path, glob=False)
    except Exception as error:  # whatever the reader stumbles over, the file is not usable
        raise InvalidData(f"{path}: not a readable Parquet file ({_first_line(error)}).") from None
    return _require_rows(Table(frame, np.arange(1, len(frame) + 1), str(path)))


def _read_csv(path: Path, text_columns: tuple[str, ...]) -> Table:
    header = read_header(path)
    frame = _parse(path, header, text_columns)
    if frame.height and frame[:, -1].null_count() and (error := uneven_row(path, header)):
        raise error  # short rows are read as missing cells; say what they are
    rows = np.arange(FIRST_ROW_OF_CSV, FIRST_ROW_OF_CSV + frame.height)
    table = _without_blank_rows(Table(frame, rows, str(path)))
    table = _require_rows(_without_row_counter(table))
    columns = [settled(column) if column.name not in text_columns else column for column in table.frame]
    return table._replace(frame=table.frame.with_columns(columns))


def _parse(path: Path, header: Header, text_columns: tuple[str, ...]) -> polars.DataFrame:
    import polars

    try:
        frame = polars.read_csv(
            path,
            separator=header.separator,
            new_columns=header.names,  # the reader itself keeps blanks around names
            infer_schema_length=None,
            schema_overrides={name: polars.String for name in text_columns if name in header.names},
            glob=False,
        )
    except polars.exceptions.NoDataError:
        raise _no_rows(str(path)) from None
    except polars.exceptions.PolarsError as error:
        if "utf-8" in str(error):
            raise not_utf8(path) from None
        raise uneven_row(path, header) or InvalidData(
            f"{path}: not a readable CSV file ({_first_line(error)})."
        ) from None
    if frame.columns != header.names:
        raise uneven_row(path, header) or InvalidData(f"{path}: rows and header do not match.")
    return frame


def _without_blank_rows(table: Table) -> Table:
    import polars

    if not table.frame.height or not table.frame[:, 0].null_count():
        return table
    blank = table.frame.select(polars.all_horizontal(polars.all().is_null())).to_series().to_numpy()
    if not blank.any():
        return table
    inside = int(blank[: np.flatnonzero(~blank)[-1]].sum()) if not blank.all() else 0
    said = (f"{inside} blank rows were left out, the first is row {table.rows[blank][0]}.",) if inside else ()
    return table.take(np.flatnonzero(~blank))._replace(remarks=(*table.remarks, *said))


def _without_row_counter(table: Table) -> Table:
    """Leave out a first column without a name if it only counts the rows (pandas writes one unless told not to)."""
    frame = table.frame
    if frame.columns[0]:
        return table
    counts = frame[:, 0].dtype.is_integer() and frame.height and frame[0, 0] in (0, 1)
    if not counts or not np.array_equal(frame[:, 0].to_numpy(), np.arange(frame.height) + frame[0, 0]):
        raise InvalidData(f"{table.source}: column 1 has no name in the header; give every column a name.")
    said = "The first column has no name and only counts the rows; it was left out."
    return table._replace(frame=frame[:, 1:], remarks=(*table.remarks, said))


def _require_rows(table: Table) -> Table:
    if not table.frame.width or not table.frame.height:
        raise _no_rows(table.source)
    return table


def _no_rows(source: str) -> InvalidData:
    return InvalidData(f"{source}: there are no rows of data below the header; add some.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
