"""``surefit path``: regularization path of a sparse linear model, with the gap of every fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def path(
    data: Annotated[str | None, typer.Argument(help="Table; built-in data by default.", show_default=False)] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.")] = None,
    points: Annotated[int, typer.Option(help="Penalty weights to show.")] = 12,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", help="NAME:number|category|date|text|drop; may be given several times."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the coefficients at every weight.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Fit the lasso (for classes: logistic regression with the l1 norm) along its regularization path.

    Example:

      surefit path data.csv --target price --out path.csv
    """
    from rich.console import Console
    from rich.text import Text

    from surefit.cli.show import grid_of, show
    from surefit.core.errors import CommandError
    from surefit.core.tables import number
    from surefit.studies.path import sparse_path

    if points < 2:
        raise CommandError(f"--points must be at least 2; got {points}.")
    if out is not None:
        shared.require_new(out, "--out", force)
    table, usual = shared.read_data(data)
    found = sparse_path(table, target or usual, points, shared.column_kinds(column))
    console = Console(highlight=False)
    console.print(Text(f"{found.title} on {found.n} rows, {len(found.names)} standardized features", style="bold"))
    grid = grid_of(f">{found.weight}", ">features", ">gap", "enters")
    for point in found.points:
        grid.add_row(number(point.weight), str(point.used), number(point.gap), Text(", ".join(point.enters[:5])))
    show(console, grid)
    if out is not None:
        shared.write_frame(found.frame(), out, force)
        typer.echo(f"Written: {out}")
