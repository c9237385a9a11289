"""``surefit verify``: re-derive every claim of a model file from its data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def verify(
    model: Annotated[Path, typer.Argument(help="Model file that surefit fit wrote.", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(help="The data it was fitted from; the file named in the model by default.", show_default=False),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Re-derive every claim of a model from the data, independently of the solver.

    Example:

      surefit verify model.surefit data.csv

    The exit code is 0 if every claim holds, 1 if one does not or if the data are not those of the fit.
    """
    from rich.console import Console

    from surefit.cli.show import show_findings
    from surefit.core.errors import CertificateError, InvalidData
    from surefit.studies import verify as verified

    fitted, table = shared.model_and_data(model, data)
    try:
        findings = verified(fitted, table)
    except (CertificateError, InvalidData) as error:
        typer.echo(f"surefit: not verified: {error}", err=True)
        raise typer.Exit(shared.BROKEN) from None
    if not quiet:
        show_findings(findings, Console(highlight=False))
        missed = sum(finding.verdict == "does not hold" for finding in findings)
        said = (
            "every claim was re-derived"
            if not missed
            else f"{missed} claimed limits were not reached by the fit, as its certificate states"
        )
        typer.echo(f"\nVerified: {said} ({len(findings)} claims).")
