"""``surefit explain``: importances, partial dependence, and the rows with the largest errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surefit.cli import options as shared

MOST = 15


def explain(
    model: Annotated[Path, typer.Argument(help="Model file that surefit fit wrote.", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(help="Rows with their target; the file named in the model by default.", show_default=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON instead of tables.")] = False,
) -> None:
    """Show which columns matter, how the prediction depends on them, and which rows are predicted worst.

    If the data are those of the fit, only the test part is used; otherwise, all rows are used.

    Example:

      surefit explain model.surefit data.csv
    """
    from surefit.studies.explain import explain as explained
    from surefit.studies.labeled import labeled_rows
    from surefit.studies.metrics import read_metric

    fitted, table = shared.model_and_data(model, data)
    rows = labeled_rows(fitted, table)
    metric = read_metric(fitted.record_["metric"])
    assert metric is not None
    found = explained(fitted, rows.X, rows.y, rows.numbers, metric)
    if json:
        from json import dumps

        from surefit.studies.words import finite

        typer.echo(dumps(finite(_plain(found)), indent=1, default=str))
        return
    _show(found, rows, metric)


def _plain(found: Any) -> dict[str, Any]:
    return {
        "importances": [each._asdict() for each in found.importances],
        "coefficients": [each._asdict() for each in found.coefficients],
        "partial_dependence": [
            {"column": d.column, "values": d.values, "lines": {name: line.tolist() for name, line in d.lines.items()}}
            for d in found.dependences
        ],
        "worst_rows": found.worst,
        "tree": found.tree,
    }


def _show(found: Any, rows: Any, metric: Any) -> None:
    from rich.console import Console
    from rich.text import Text

    from surefit.cli.show import grid_of, show, title
    from surefit.core.tables import digits

    console = Console(highlight=False)
    console.print(Text(f"On {len(rows.y)} rows {rows.words}", style="bold"))
    title(console, f"Importance: how much worse the {metric.words} gets when a column is shuffled")
    grid = grid_of("column", ">loss", ">± sd")
    for each in found.importances[:MOST]:
        grid.add_row(Text(each.column), digits(each.loss), digits(each.spread))
    show(console, grid)
    if found.coefficients:
        title(console, "Coefficients, largest first")
        grid = grid_of("feature", "for", ">per standard deviation", ">per unit")
        for each in found.coefficients[:MOST]:
            grid.add_row(Text(each.feature), Text(each.label), digits(each.standardized), digits(each.per_unit))
        show(console, grid)
    if found.tree:
        title(console, "Tree")
        console.print(Text(found.tree))
    for each in found.dependences:
        title(console, f"Mean prediction along {each.column} (partial dependence)")
        grid = grid_of(each.column, *(f">{name}" for name in each.lines))
        places = range(0, len(each.values), max(1, len(each.values) // 6))
        for i in places:
            value = digits(each.values[i]) if isinstance(each.values[i], float) else str(each.values[i])
            grid.add_row(Text(value), *(digits(line[i]) for line in each.lines.values()))
        show(console, grid)
    title(console, "Rows predicted worst")
    grid = grid_of(">row", "truth", "prediction")
    for row in found.worst:
        shown = [value if isinstance(value, str) else digits(value) for value in (row["truth"], row["prediction"])]
        grid.add_row(str(row["row"]), *map(Text, shown))
    show(console, grid)
