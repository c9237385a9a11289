"""The pictures of all ratios and of the growth with the rows, for the README and the page."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparison import grows
from benchmarks.workload import OURS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
RATIOS, GROWTH = "benchmarks.svg", "benchmarks_rows.svg"
COLORS = ("#1f5fa8", "#c8641e")  # one thread, two threads: blue and orange, apart for every kind of color vision
MARKS = ("o", "s")
LARGEST = 100.0  # ratios above are drawn at the edge, with their value


def draw(results: Sequence[dict[str, Any]], folder: Path = FOLDER) -> None:
    """Draw the ratios and, if a result has it, the growth with the rows."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "surefit"  # the same results give the same bytes
    _save(_ratios(results), folder / RATIOS)
    for result in results:
        for entry in result["workloads"]:
            if grows(entry):
                _save(_growth(entry), folder / GROWTH)


def growth(entry: dict[str, Any]) -> dict[str, list[tuple[int, float, float]]]:
    """Rows, seconds and megabytes of every family of surefit."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for row in entry["rows"]:
        if row["solver"] == OURS and row["status"] == "ok":
            family, rows = re.fullmatch(r"family=(\w+), rows=(\d+)", row["variant"]).groups()
            found.setdefault(family, []).append((int(rows), row["seconds"], row["memory_mb"]))
    return found


def _save(figure, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def _ratios(results: Sequence[dict[str, Any]]):
    """Draw the ratio of every workload on a logarithmic axis; right of 1, surefit is faster than every peer."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(entry["name"] for result in results for entry in result["workloads"] if entry["ratio"]))
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.19 * len(names)), layout="constrained")
    axes.axvline(1.0, color="0.3", linewidth=1)
    for result, color, mark in zip(results, COLORS, MARKS, strict=False):
        ratios = {entry["name"]: entry["ratio"] for entry in result["workloads"] if entry["ratio"]}
        threads = result["options"]["threads"]
        axes.plot(
            [min(ratio, LARGEST) for ratio in ratios.values()],
            [names.index(name) for name in ratios],
            mark,
            color=color,
            markersize=5,
            label="one thread" if threads == 1 else f"{threads} threads",
        )
        for name, ratio in ratios.items():
            if ratio > LARGEST:
                axes.annotate(f"{ratio:.0f} ", (LARGEST, names.index(name)), ha="right", va="center", fontsize=7)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50, 100], ["0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=7)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("time of the fastest peer / time of surefit, at the same accuracy (right of 1: surefit is faster)")
    axes.legend(loc="lower right")
    return figure


def _growth(entry: dict[str, Any]):
    """Draw seconds per million rows of every family: level lines are linear time."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for family, measured in growth(entry).items():
        rows, seconds, _ = zip(*measured, strict=True)
        axes.plot(rows, [1e6 * s / n for n, s in zip(rows, seconds, strict=True)], "o-", markersize=4)
        axes.annotate(f" {family}", (rows[-1], 1e6 * seconds[-1] / rows[-1]), va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.35)
    axes.grid(alpha=0.3)
    axes.set_xlabel("rows (10 columns)")
    axes.set_ylabel("seconds per million rows")
    return figure
