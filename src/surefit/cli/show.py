"""A study on a terminal: what was read, what was fitted, what is certain about it, how it does on unseen rows."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from surefit.core.tables import number

MOST_COEFFICIENTS = 25


def show_study(study: Any, console: Console) -> None:
    """Print everything about a study."""
    _show_data(study, console)
    _show_coefficients(study, console)
    _show_certificate(study, console)
    _show_test(study, console)


def _title(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _grid(*columns: str) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), show_header=bool(columns), header_style="dim", pad_edge=False)
    for name in columns:
        grid.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left")
    return grid


def _show(console: Console, grid: Grid) -> None:
    console.print(Padding(grid, (0, 0, 0, 2)))


def _show_data(study: Any, console: Console) -> None:
    encoder = study.model.encoder_
    kinds = list(encoder.kinds_.values())
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    console.print(Text("Data", style="bold"))
    grid = _grid()
    grid.add_row("source", Text(study.train.source))
    grid.add_row("target", Text(study.model.target_))
    grid.add_row("columns", f"{len(kinds)} in use ({counts}), {len(encoder.feature_names_)} features")
    grid.add_row(
        "rows", f"{study.train.frame.height} to fit, {study.test.frame.height} to test (seed {study.plan.seed})"
    )
    _show(console, grid)
    for text in study.remarks:
        console.print(Padding(Text(f"remark: {text}", style="yellow"), (0, 0, 0, 2)))


def _show_coefficients(study: Any, console: Console) -> None:
    chosen = "chosen by cross-validation" if hasattr(study.model.estimator_, "alpha_") else "given"
    share = "" if study.l1_ratio == 1.0 else f", l1 share {study.l1_ratio:g}"
    _title(console, f"{study.model.certificate_.estimator}: alpha = {study.alpha:.6g} ({chosen}){share}")
    coefficients = sorted(study.model.coefficients, key=lambda c: -abs(c.standardised))
    used = [c for c in coefficients if c.standardised]
    grid = _grid("feature", ">coefficient", ">per standard deviation")
    grid.add_row("(intercept)", f"{study.model.intercept:.5g}", "")
    for c in used[:MOST_COEFFICIENTS]:
        grid.add_row(Text(c.feature), f"{c.value:.5g}", f"{c.standardised:.4g}")
    _show(console, grid)
    proved = sum(c.proved_zero for c in coefficients)
    rest = (
        f"{len(used)} of {len(coefficients)} features are used; {proved} are proved to be zero in every exact solution."
    )
    hidden = f" The {MOST_COEFFICIENTS} largest are shown." if len(used) > MOST_COEFFICIENTS else ""
    console.print(Padding(Text(rest + hidden), (0, 0, 0, 2)))


def show_claims(certificate: Any, findings: Any, console: Console) -> None:
    """Print the claims of a certificate, with what the checker found about each."""
    title = f"Certificate of {certificate.estimator} (grade {certificate.grade}), verified independently"
    console.print(Text(title, style="bold"))
    _show(console, _claims(certificate, findings))


def _claims(certificate: Any, findings: Any) -> Grid:
    grid = _grid("verdict", ">proved", ">limit", "level", "claim")
    for claim in certificate.claims:
        finding = findings[claim.name]
        style = "red" if claim.holds is False else "green"
        proved = "" if finding.level == "stated" else number(finding.proved)
        grid.add_row(
            Text(claim.verdict, style=style), proved, number(claim.limit), finding.level, Text(claim.statement)
        )
    return grid


def _show_certificate(study: Any, console: Console) -> None:
    certificate, findings = study.model.certificate_, study.verification
    _title(
        console, f"Certificate (grade {certificate.grade}), verified independently in {study.seconds['verify']:.2g} s"
    )
    _show(console, _claims(certificate, findings))
    if study.stopped is not None:
        console.print(Padding(Text(f"Stopped early: {study.stopped.sentence()}.", style="yellow"), (0, 0, 0, 2)))


def _show_test(study: Any, console: Console) -> None:
    scores = study.scores
    if scores is None:
        return
    _title(console, f"On {len(study.observed)} unseen rows")
    grid = _grid()
    grid.add_row(
        "root mean squared error", f"{scores.rmse:.5g}", f"({scores.rmse_of_mean:.5g} by always predicting the mean)"
    )
    grid.add_row("mean absolute error", f"{scores.mae:.5g}", "")
    grid.add_row("variance explained", f"{scores.r2:.4f}", "")
    _show(console, grid)
    console.print()
