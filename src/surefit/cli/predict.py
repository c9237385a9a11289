"""``surefit predict``: a model and a table in, one number a row out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="Model file that surefit fit wrote.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with the model's columns.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "--output", "-o", help="CSV file to write; standard output if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no remarks.")] = False,
) -> None:
    """Predict the target for every row of a table.

    The result is a CSV table with one column, prediction, and one row for each row of the data, in their order. Columns the
    model does not know are ignored; a text that it has not seen counts as average in its column, with a remark.
    """
    import polars

    from surefit.core.errors import CommandError
    from surefit.persistence import load, require_writable, write_file
    from surefit.tables import TableRegressor, read_table

    if out is not None and out.is_file() and not force:
        raise CommandError(f"{out}: this file exists already; overwrite it with --force, or name another with --out.")
    if out is not None:
        require_writable(out, force)
    fitted = load(model)
    if not isinstance(fitted, TableRegressor):
        raise CommandError(
            f"{model}: holds a {type(fitted).__name__}, which takes arrays, not tables; use it in Python: surefit.load."
        )
    table = read_table(data, text_columns=fitted.encoder_.text_columns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predictions = fitted.predict(table)
    said = [*table.remarks, *dict.fromkeys(str(warning.message) for warning in caught)]
    for text in [] if quiet else said:
        typer.echo(f"remark: {text}", err=True)
    content = polars.DataFrame({"prediction": predictions}).write_csv()
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_file(out, content.encode("utf-8"), overwrite=force)
        if not quiet:
            typer.echo(f"Written: {out} ({len(predictions)} predictions)", err=True)
