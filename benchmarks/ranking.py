"""Who passes the gate, who is fastest among those, and by what factor."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.comparison import tasks
from benchmarks.runner import Row
from benchmarks.workload import OURS, Workload

TIE = 1.5  # a factor below this is noise of the machine


def rank(workload: Workload, rows: Sequence[Row]) -> dict[str, Any]:
    """The entry of a workload in the result file.

    Each row gains ``distance`` (relative, to the best objective of the run), ``passes`` (None if it is never ranked)
    and ``counted`` (the fastest row of its solver that passes). ``ratio`` is the time of the fastest peer over ours.
    If the variants are tasks, every one is judged alone, and ``ratio`` is the geometric mean of their ratios.
    """
    groups = [[row for row in rows if row["variant"] == v] for v in _variants(rows)] if workload.tasks else [rows]
    distances = {id(row): distance for group in groups for row, distance in zip(group, _distances(group), strict=True)}
    judged = [row | {"distance": distances[id(row)]} for row in rows]
    for row in judged:
        good = row["status"] == "ok" and (workload.gate is None or workload.gate.accepts(row))
        row["passes"] = good if row["ranked"] else None
    for row in judged:
        same = [other for other in judged if other["solver"] == row["solver"]]
        row["counted"] = bool(row["passes"]) if workload.tasks else row is _fastest(same)
    ours = _fastest(row for row in judged if row["solver"] == OURS)
    peer = _fastest(row for row in judged if row["solver"] != OURS)
    ratio = peer["seconds"] / ours["seconds"] if ours and peer else None
    if workload.tasks:
        ratios = [task.ratio for task in tasks(judged)]
        ratio = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    return {
        "name": workload.name,
        "title": workload.title,
        "recipe": workload.recipe,
        "seed": workload.seed,
        "objective": workload.objective,
        "floor": workload.floor,
        "gate": None if workload.gate is None else workload.gate._asdict(),
        "tasks": workload.tasks,
        "rows": judged,
        "fastest_peer": None if peer is None or workload.tasks else peer["solver"],
        "ratio": ratio,
        "verdict": _verdict(ratio, ours, [row for row in judged if row["solver"] == OURS]),
    }


def _variants(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["variant"] for row in rows))


def _distances(rows: Iterable[Row]) -> list[float | None]:
    objectives = [row["objective"] for row in rows]
    best = min((value for value in objectives if value is not None), default=0.0)
    scale = abs(best) or 1.0  # relative to a best of zero means nothing: then the difference itself
    return [None if value is None else (value - best) / scale for value in objectives]


def _fastest(rows: Iterable[Row]) -> Row | None:
    return min((row for row in rows if row["passes"]), key=lambda row: row["seconds"], default=None)


def _verdict(ratio: float | None, ours: Row | None, attempts: Sequence[Row]) -> str:
    if ratio is not None:
        return "faster" if ratio >= TIE else "slower" if ratio <= 1 / TIE else "tie"
    if ours is not None:
        return "no peer passes the gate"
    if not attempts:
        return f"{OURS} takes no part"
    status = attempts[-1]["status"]
    return f"{OURS} misses the gate" if status == "ok" else f"{OURS}: {status}"
