"""The generated part of docs/benchmarks.md."""

import json
from pathlib import Path
from typing import Any

from benchmarks import table
from benchmarks.results import remarks
from benchmarks.workload import OURS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN = "<!-- results: begin (written by python -m benchmarks --write-docs RESULT.json) -->"
END = "<!-- results: end -->"
COLUMNS = ("solver", "setting", "median", "spread", "distance", "gap", "memory", "certificate", "verify/fit", "result")


def write(result_file: Path, page: Path = PAGE) -> None:
    """Put the tables of a result file between the markers of the page."""
    result = json.loads(result_file.read_text())
    if result["options"]["quick"]:
        raise ValueError(
            f"benchmarks: --write-docs needs a result of full sizes; {result_file.name} was made with --quick. "
            "Run python -m benchmarks without it first."
        )
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"benchmarks: {page.name} must have the lines {BEGIN!r} and {END!r}; put them back.")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{render(result)}\n\n{END}{after}")


def render(result: dict[str, Any]) -> str:
    """Machine, one line a workload, then one table a workload."""
    parts = [_machine(result), *remarks(result), _overview(result), *map(_workload, result["workloads"])]
    return "\n\n".join(parts)


def _machine(result: dict[str, Any]) -> str:
    machine, options = result["environment"], result["options"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    threads = "one thread" if options["threads"] == 1 else f"{options['threads']} threads"
    return (
        f"Measured {result['created'][:10]} on {machine['processor']} ({machine['cores']} cores, {machine['system']}), "
        f"{threads}, median of up to {options['repeats']} runs; Python {machine['python']}, {versions}."
    )


def _overview(result: dict[str, Any]) -> str:
    rows = []
    for entry in result["workloads"]:
        ours = next((row for row in entry["rows"] if row["solver"] == OURS and row["counted"]), None)
        peer = next((row for row in entry["rows"] if row["solver"] == entry["fastest_peer"] and row["counted"]), None)
        rows.append(
            (
                entry["name"],
                table.seconds(ours["seconds"]) if ours else "",
                f"{peer['solver']} {table.seconds(peer['seconds'])}" if peer else "",
                f"{entry['ratio']:.2f}" if entry["ratio"] is not None else "",
                entry["verdict"],
            )
        )
    return table.markdown(("workload", OURS, "fastest peer", "ratio", "verdict"), rows)


def _workload(entry: dict[str, Any]) -> str:
    picks = [table.HEADER.index(column) for column in COLUMNS]
    rows = [[table.cells(entry, row)[pick] for pick in picks] for row in _one_a_solver(entry["rows"])]
    return "\n\n".join(
        [
            f"### {entry['name']}: {entry['title']}",
            f"{entry['recipe'][0].upper()}{entry['recipe'][1:]}. Seed {entry['seed']}. Objective: `{entry['objective']}`. "
            f"Gate: {table.gate(entry)}. Floor (estimated): {entry['floor']}.",
            table.markdown(COLUMNS, rows),
            table.summary(entry),
        ]
    )


def _one_a_solver(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The row that counts; where none passes, the last try, which is the tightest."""
    last = {row["solver"]: row for row in rows}
    counted = {row["solver"]: row for row in rows if row["counted"]}
    return list((last | counted).values())
