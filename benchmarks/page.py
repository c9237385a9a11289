"""The generated part of docs/benchmarks.md."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import comparison, picture, table
from benchmarks.results import remarks
from benchmarks.workload import OURS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN = "<!-- results: begin (written by python -m benchmarks --write-docs RESULT.json) -->"
END = "<!-- results: end -->"
COLUMNS = ("solver", "setting", "median", "spread", "distance", "gap", "memory", "certificate", "verify/fit", "result")
LEVEL = "surefit, as accurate"


def write(files: Sequence[Path], page: Path = PAGE, pictures: Path = picture.FOLDER) -> None:
    """Put the tables of result files between the markers of the page, and draw their ratios."""
    results = [json.loads(file.read_text()) for file in files]
    for file, result in zip(files, results, strict=True):
        if result["options"]["quick"]:
            raise ValueError(
                f"benchmarks: --write-docs needs a result of full sizes; {file.name} was made with --quick. "
                "Run python -m benchmarks without it first."
            )
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"benchmarks: {page.name} must have the lines {BEGIN!r} and {END!r}; put them back.")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{render(results)}\n\n{END}{after}")
    picture.draw(results, pictures)


def render(results: Sequence[dict[str, Any]]) -> str:
    """Return all ratios drawn, an overview of every result, and one table per workload, of the first result that has it."""
    parts = [f"![Time of the fastest peer over the time of surefit, by workload](_static/{picture.RATIOS})"]
    for result in results:
        compared = [entry for entry in result["workloads"] if not comparison.grows(entry)]
        parts += [_machine(result), *remarks(result), *([_overview(compared)] if compared else [])]
    parts += [_speedups(*results[:2])] if [r["options"]["threads"] for r in results[:2]] == [1, 2] else []
    first = {entry["name"]: entry for result in reversed(results) for entry in result["workloads"]}
    return "\n\n".join([*parts, *(_workload(first[name]) for name in sorted(first))])


def _machine(result: dict[str, Any]) -> str:
    machine, options = result["environment"], result["options"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    threads = "one thread" if options["threads"] == 1 else f"{options['threads']} threads"
    return (
        f"Measured {result['created'][:10]} on {machine['processor']} ({machine['cores']} cores, {machine['system']}), "
        f"{threads}, median of up to {options['repeats']} runs; Python {machine['python']}, {versions}; BLAS: {', '.join(machine['blas'])}."
    )


def _overview(entries: Sequence[dict[str, Any]]) -> str:
    rows = []
    for entry in entries:
        if entry["tasks"]:
            count = len(list(comparison.tasks(entry["rows"])))
            mean = f"{entry['ratio']:.2f} (mean)" if entry["ratio"] is not None else ""
            rows.append((entry["name"], f"{count} tasks", "fastest of each", mean, entry["verdict"], ""))
            continue
        ours, peer, level = (
            find(entry) for find in (comparison.ours, comparison.fastest_peer, comparison.ours_as_accurate)
        )
        rows.append(
            (
                entry["name"],
                table.seconds(ours["seconds"]) if ours else "",
                f"{peer['solver']} {table.seconds(peer['seconds'])}" if peer else "",
                f"{entry['ratio']:.2f}" if entry["ratio"] is not None else "",
                entry["verdict"],
                table.seconds(level["seconds"]) if level else "",
            )
        )
    return table.markdown(("workload", OURS, "fastest peer", "ratio", "verdict", LEVEL), rows)


def _speedups(one: dict[str, Any], two: dict[str, Any]) -> str:
    rows = [
        (s.name, table.seconds(s.one), table.seconds(s.two), f"{s.factor:.2f}", f"{s.serial:.0%}", f"{s.projected:.1f}")
        for s in comparison.speedups(one, two)
    ]
    header = (
        "workload",
        "one thread",
        "two threads",
        "speed-up",
        "serial share",
        f"speed-up on {comparison.MANY} cores",
    )
    return (
        "What two threads gain, and what more cores would. With the time divided into a share s that does not run in "
        f"parallel and a rest that does (Amdahl's law), two threads need s + (1 - s)/2 of the time of one, and "
        f"{comparison.MANY} cores s + (1 - s)/{comparison.MANY}. The last column is this projection, not a measurement: memory "
        "bandwidth, which cores share, limits it further.\n\n" + table.markdown(header, rows)
    )


def _workload(entry: dict[str, Any]) -> str:
    picks = [table.HEADER.index(column) for column in COLUMNS]
    drawn = [f"![Seconds per million rows, by family](_static/{picture.GROWTH})"] if comparison.grows(entry) else []
    chosen = entry["rows"] if entry["gate"] is None else _one_a_solver(entry["rows"])
    rows = [[table.cells(entry, row)[pick] for pick in picks] for row in chosen]
    return "\n\n".join(
        [
            f"### {entry['name']}: {entry['title']}",
            f"{entry['recipe'][0].upper()}{entry['recipe'][1:]}. Seed {entry['seed']}. Objective: `{entry['objective']}`. "
            f"Gate: {table.gate(entry)}. Floor (estimated): {entry['floor']}.",
            *drawn,
            table.by_task(entry) if entry["tasks"] else table.markdown(COLUMNS, rows),
            *([] if drawn else [table.summary(entry)]),
        ]
    )


def _one_a_solver(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The row that counts; where none passes, the last try, which is the tightest."""
    last = {row["solver"]: row for row in rows}
    counted = {row["solver"]: row for row in rows if row["counted"]}
    return list((last | counted).values())
