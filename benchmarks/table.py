"""Results as tables: cells first, then rich, plain text or Markdown around them."""

from collections.abc import Sequence
from typing import Any

from benchmarks.comparison import Task, tasks
from benchmarks.workload import OURS

HEADER = (
    "solver",
    "setting",
    "median",
    "min",
    "spread",
    "runs",
    "CPU",
    "objective",
    "distance",
    "gap",
    "memory",
    "certificate",
    "verify/fit",
    "result",
)


def cells(entry: dict[str, Any], row: dict[str, Any]) -> tuple[str, ...]:
    """A row of the result file, as printed."""
    return (
        row["solver"],
        row["variant"],
        seconds(row["seconds"]),
        seconds(row["fastest"]),
        _show(row["spread"], "{:.0%}"),
        str(row["runs"] or ""),
        _show(row["cpu_share"], "{:.0%}"),
        _show(row["objective"], "{:.9g}"),
        _show(row["distance"], "{:.1e}"),
        _show(row["gap"], "{:.1e}"),
        _show(row["memory_mb"], "{:.0f} MB"),
        _show(row.get("certificate_share"), "{:.0%}"),
        _show(row.get("verify_ratio"), "{:.2g}"),
        outcome(entry, row),
    )


def outcome(entry: dict[str, Any], row: dict[str, Any]) -> str:
    """One phrase on how a row ended."""
    if row["status"] == "not installed":
        return "not installed"
    if row["status"] != "ok":
        return f"{row['status']}: {row['detail']}"
    if row["passes"] is None:
        return "reference"
    if not row["passes"]:
        return "misses gate"
    if not row["counted"]:
        return "passes"
    fastest = row["solver"] == entry["fastest_peer"] or any(row is task.peer for task in _tasks(entry))
    return "fastest peer" if fastest else "counted"


def summary(entry: dict[str, Any]) -> str:
    """The ratio in a sentence."""
    if entry["ratio"] is None:
        return f"No ratio: {entry['verdict']}."
    if entry["tasks"]:
        return f"fastest peer of each task / {OURS}, geometric mean = {entry['ratio']:.2f} ({entry['verdict']})."
    return f"{entry['fastest_peer']} / {OURS} = {entry['ratio']:.2f} ({entry['verdict']})."


def gate(entry: dict[str, Any]) -> str:
    """What an answer has to satisfy, in words."""
    if entry["gate"] is None:
        return "none"
    return f"{entry['gate']['meaning']} <= {entry['gate']['limit']:g}"


def show(result: dict[str, Any]) -> None:
    """Print every workload, with rich if it is there."""
    for entry in result["workloads"]:
        table = [cells(entry, row) for row in entry["rows"]]
        dim = [not row["counted"] for row in entry["rows"]]
        title = f"{entry['name']}: {entry['title']} (gate: {gate(entry)})"
        try:
            _show_rich(title, table, dim)
        except ImportError:
            print(f"\n{title}\n{plain(table)}")
        print(summary(entry))


def by_task(entry: dict[str, Any]) -> str:
    """One line per task, for the documentation; references such as a second way to call surefit have columns of their own."""
    references = list(dict.fromkeys(row["solver"] for row in entry["rows"] if row["passes"] is None))
    timed = {(row["solver"], row["variant"]): seconds(row["seconds"]) for row in entry["rows"]}
    lines = [
        (
            task.ours["variant"].partition("=")[2],
            seconds(task.ours["seconds"]),
            *(timed.get((solver, task.ours["variant"]), "") for solver in references),
            f"{task.peer['solver']} {seconds(task.peer['seconds'])}",
            f"{task.ratio:.2f}",
            _show(task.ours.get("certificate_share"), "{:.0%}"),
        )
        for task in _tasks(entry)
    ]
    return markdown(("task", OURS, *references, "fastest peer", "ratio", "certificate"), lines)


def _tasks(entry: dict[str, Any]) -> list[Task]:
    return list(tasks(entry["rows"])) if entry["tasks"] else []


def plain(rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns in plain text."""
    lines = [HEADER, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for the documentation."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def seconds(value: float | None) -> str:
    """Three significant digits, in the unit that reads best."""
    if value is None:
        return ""
    if value < 1e-4:
        return f"{value * 1e6:.3g} us"
    return f"{value * 1e3:.3g} ms" if value < 0.1 else f"{value:.3g} s"


def _show(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _show_rich(title: str, rows: Sequence[Sequence[str]], dim: Sequence[bool]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for name in HEADER:
        table.add_column(name, justify="left" if name in ("solver", "setting", "result") else "right")
    for row, faint in zip(rows, dim, strict=True):
        table.add_row(*map(Text, row), style="dim" if faint else None)
    console = Console()
    Console(width=None if console.is_terminal else 200).print(table)
