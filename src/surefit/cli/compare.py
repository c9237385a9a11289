"""``surefit compare``: paired comparison of two models on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def compare(
    first: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another model file.", show_default=False)],
    data: Annotated[
        str, typer.Argument(help="Rows with their target that neither model has seen.", show_default=False)
    ],
    confidence: Annotated[float, typer.Option(help="Confidence of the interval.")] = 0.95,
) -> None:
    """Compare two models on the same rows by a paired test, with an interval for the difference.

    If the data are those of the fits, only rows in the test parts of both models are used.

    Example:

      surefit compare a.surefit b.surefit new.csv
    """
    from surefit.core.errors import CommandError
    from surefit.core.tables import digits
    from surefit.studies.paired import compare_models

    def signed(value: float) -> str:
        return f"{'+' if value > 0 else ''}{digits(value)}"

    if not 0 < confidence < 1:
        raise CommandError(f"--confidence must be a number between 0 and 1; got {confidence:g}.")
    models = shared.load_model(first), shared.load_model(second)
    table, _ = shared.read_data(data)
    found = compare_models(models[0], models[1], table, confidence)
    typer.echo(f"On {found.n} rows {found.words}: {found.measure}")
    for path, model, loss in zip((first, second), models, found.losses, strict=True):
        typer.echo(f"  {path}: {digits(loss)} ({model.record_['title']})")
    low, high = found.interval
    typer.echo(
        f"  difference: {signed(found.difference)}, {100 * confidence:g} % interval {signed(low)} to {signed(high)}"
    )
    typer.echo(f"  {found.test}: p = {found.p_value:.3g}; {found.verdict(str(first), str(second))}")
    if not found.fresh:
        typer.echo("note: a model was fitted on some of these rows, so its error here is optimistic.", err=True)
