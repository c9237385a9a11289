"""``surefit report``: write the report of a model file again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def report(
    model: Annotated[Path, typer.Argument(help="Model file that surefit fit wrote.", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(help="The data it was fitted from; the file named in the model by default.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Write the report of a model again, after re-deriving every claim.

    Example:

      surefit report model.surefit data.csv --out again.html
    """
    from surefit.studies import revisit

    shared.require_packages("jinja2", "matplotlib")
    shared.require_new(out, "--out", force)
    study = revisit(*shared.model_and_data(model, data))
    study.write_report(out, overwrite=force)
    if not quiet:
        typer.echo(f"Written: {out}")
    if study.trouble is not None:
        typer.echo(f"surefit: not verified: {study.trouble}", err=True)
        raise typer.Exit(shared.BROKEN)
