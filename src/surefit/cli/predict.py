"""``surefit predict``: predictions, probabilities and intervals for the rows of a table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from surefit.cli import options as shared


def predict(
    model: Annotated[Path, typer.Argument(help="Model file that surefit fit wrote.", show_default=False)],
    data: Annotated[
        str, typer.Argument(help="Table with the model's columns; - for standard input.", show_default=False)
    ],
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add intervals (or sets of classes) that contain the truth with this probability, such as 0.9."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--output", "-o", help="CSV or Parquet file to write; standard output if not given."),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file, such as utf-8 or latin-1.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes.")] = False,
) -> None:
    """Predict the target for every row of a table.

    The result has one row for each row of the data, in the same order. It contains the columns that identify rows, the
    prediction, the probability of each class, and with --interval the ends of the interval or the set of classes.
    Missing cells and new categories are treated as in the fit, with a note.

    For example:

      surefit predict model.surefit new.csv --interval 0.9

      surefit predict model.surefit new.csv --out predictions.parquet
    """
    from surefit.core.errors import CommandError
    from surefit.tables import read_table

    if interval is not None and not 0 < interval < 1:
        raise CommandError(f"--interval must be a number between 0 and 1; got {interval:g}.")
    if out is not None:
        shared.require_new(out, "--out", force)
    fitted = shared.load_model(model)
    table = read_table(data, encoding=encoding)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = prediction_frame(fitted, table, interval)
    for text in [] if quiet else [*table.notes, *dict.fromkeys(str(warning.message) for warning in caught)]:
        typer.echo(f"note: {text}", err=True)
    if out is None:
        typer.echo(frame.write_csv(), nl=False)
        return
    shared.write_frame(frame, out, force)
    if not quiet:
        typer.echo(f"Written: {out} ({frame.height} predictions)", err=True)


def prediction_frame(model: Any, table: Any, interval: float | None) -> Any:
    """Return identifiers, predictions, probabilities and intervals as a data frame."""
    import polars

    threshold = None if interval is None else model.threshold(interval)
    rows = model.encode(table)
    columns = {name: table.frame[name] for name in model.identifiers if name in table.frame.columns}
    columns["prediction"] = polars.Series(model.predictor_.predict(rows))
    if len(model.classes_):
        p = model.predictor_.predict_proba(rows)
        columns |= {f"probability of {name}": polars.Series(p[:, k]) for k, name in enumerate(model.classes_)}
        if threshold is not None:
            sets = [" or ".join(model.classes_[inside]) for inside in 1.0 - p <= threshold]
            columns["set"] = polars.Series(sets)
    elif threshold is not None:
        columns["lower"] = columns["prediction"] - threshold
        columns["upper"] = columns["prediction"] + threshold
    return polars.DataFrame([column.alias(name) for name, column in columns.items()])
