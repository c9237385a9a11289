"""Display of a study on a terminal: columns, leaderboard, a paragraph about the winner, and its certificate."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from surefit.core.tables import number

MOST_NAMES = 12
WIDE = 110  # smallest width of a terminal, in characters, for all columns of the leaderboard
STYLES = {"holds": "green", "proved": "green", "does not hold": "red", "undecided": "yellow", "vacuous": "yellow"}


def show_study(study: Any, console: Console) -> None:
    """Print everything about a study."""
    from surefit.studies.words import winner_paragraph

    _show_data(study, console)
    _show_leaderboard(study, console)
    title(console, "Winner")
    show(console, Text(winner_paragraph(study)))
    show_findings(study.findings, console, study.verify_seconds)
    console.print()


def title(console: Console, text: str) -> None:
    """Print a heading."""
    console.print()
    console.print(Text(text, style="bold"))


def grid_of(*columns: str) -> Grid:
    """Return an empty table; columns whose name begins with > are right-aligned."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), show_header=bool(columns), header_style="dim", pad_edge=False)
    for name in columns:
        right = name.startswith(">")
        grid.add_column(name.lstrip(">"), justify="right" if right else "left", no_wrap=right or name == "model")
    return grid


def show(console: Console, block: Grid | Text) -> None:
    """Print a table or a text with a margin."""
    console.print(Padding(block, (0, 0, 0, 2), expand=False))


def _show_data(study: Any, console: Console) -> None:
    prepared, split = study.prepared, study.split
    console.print(Text(f"{prepared.table.source}: {study.task} of {study.model.target_}", style="bold"))
    show(console, Text(f"{study.task}: {prepared.target.why}"))
    rows = f"{len(split.train)} rows to compare and fit, {len(split.test)} to test ({split.words}, seed {study.options.seed})"
    show(console, Text(rows))
    title(console, "Columns")
    grid = grid_of("taken for", "columns", "why")
    for (kind, why), names in _by_kind(prepared.columns).items():
        shown = ", ".join(names[:MOST_NAMES]) + (
            f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        )
        grid.add_row(kind, Text(shown), Text(why))
    show(console, grid)
    for text in study.notes:
        show(console, Text(f"note: {text}", style="yellow"))


def _by_kind(columns: Any) -> dict[tuple[str, str], list[str]]:
    """Return the names of the columns, grouped by kind and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        found.setdefault((column.kind, column.why), []).append(column.name)
    return found


def _show_leaderboard(study: Any, console: Console) -> None:
    from surefit.studies.words import not_compared, short

    folds = len(study.split.folds)
    how = "cross-validation" if folds > 1 else "a held-out part"
    better = "larger" if study.metric.larger else "smaller"
    title(console, f"Leaderboard: {study.metric.words} by {how} ({better} is better)")
    bound, wide, name = study.options.select == "bound", console.width >= WIDE, study.metric.name
    scored = [row for row in study.rows if row["score"] is not None]
    setting = ["setting"] if wide else []
    grid = grid_of("", "model", *setting, ">score", ">± se", *([">bound"] if bound else []), ">fit s", ">gap")
    for row in scored:
        values = {key: float("nan") if row[key] is None else row[key] for key in ("score", "standard_error", "bound")}
        cells = [
            "*" if row["winner"] else "",
            row["model"],
            *([row["setting"]] if wide else []),
            short(values["score"], name),
        ]
        cells += [short(values["standard_error"], name), *([short(values["bound"])] if bound else [])]
        grid.add_row(*cells, number(row["fit_seconds"]), number(row["gap"]), style="bold" if row["winner"] else "")
    show(console, grid)
    for row in scored:
        if row["state"]:
            show(console, Text(f"{row['model']}: {row['state']}", style="dim"))
    if said := not_compared(study.rows):
        show(console, Text(said, style="dim"))


def show_findings(findings: list[Any], console: Console, seconds: float | None = None) -> None:
    """Print every claim with the finding of the checker."""
    took = "" if seconds is None else f" in {seconds:.2g} s"
    title(console, f"Certificate, verified independently{took}")
    grid = grid_of("verdict", ">proved", ">limit", "level", "claim")
    for finding in findings:
        verdict = Text(finding.verdict, style=STYLES.get(finding.verdict, ""))
        grid.add_row(verdict, number(finding.proved), number(finding.limit), finding.level, Text(finding.statement))
    show(console, grid)


def show_claims(certificate: Any, verification: Any, console: Console) -> None:
    """Print the claims about a model of another library."""
    from surefit.studies.certify import verdict_word

    console.print(
        Text(
            f"Certificate of {certificate.estimator} (grade {certificate.grade}), verified independently", style="bold"
        )
    )
    grid = grid_of("verdict", ">proved", ">limit", "level", "claim")
    for claim in certificate.claims:
        finding = verification[claim.name]
        proved = "" if finding.level == "stated" else number(finding.proved)
        word = verdict_word(claim, finding.level)
        grid.add_row(
            Text(word, style=STYLES.get(word, "")), proved, number(claim.limit), finding.level, Text(claim.statement)
        )
    show(console, grid)
