"""``surefit data``: built-in data sets, listed or written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def data(
    name: Annotated[
        str | None, typer.Argument(help="Data set to write; without it, all are listed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV or Parquet file to write; standard output if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """List the built-in data sets, or write one as a table.

    For example:

      surefit data

      surefit data tumors --out tumors.csv
    """
    from surefit.tables import BUILTINS, builtin_table

    if name is None:
        for each, found in BUILTINS.items():
            typer.echo(f"{each:<10} {found.task:<15} {found.about}; target {found.target}")
        return
    frame = builtin_table(name).frame
    if out is None:
        typer.echo(frame.write_csv(), nl=False)
        return
    shared.require_new(out, "--out", force)
    shared.write_frame(frame, out, force)
    typer.echo(f"Written: {out} ({frame.height} rows); surefit fit {out} --target {BUILTINS[name].target}")
