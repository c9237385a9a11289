"""``surefit theory``: the statement of a theorem, and its numerical value on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from surefit.cli import options as shared


def theory(
    name: Annotated[str | None, typer.Argument(help="Theorem; without it, all are listed.", show_default=False)] = None,
    data: Annotated[
        str | None, typer.Argument(help="Table on which to evaluate it, or a built-in data set.", show_default=False)
    ] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.")] = None,
) -> None:
    """State a theorem and evaluate it on a table.

    For example:

      surefit theory

      surefit theory novikoff iris.csv --target species
    """
    from surefit.studies.theorems import THEOREMS, find_theorem, rows_for

    if name is None:
        for each in THEOREMS.values():
            typer.echo(f"{each.name:<16} {each.title}")
        return
    theorem = find_theorem(name)
    typer.echo(f"{theorem.title}\n\n  {theorem.statement}\n\n  Proof: the documentation's page {theorem.anchor!r}.")
    if data is not None:
        table, usual = shared.read_data(data)
        typer.echo(f"\n{table.source}: {theorem.number(rows_for(table, target or usual))}")
