"""What follows from results: times at equal accuracy, and what more cores would give."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.workload import OURS

MANY = 16  # cores of the projection


def grows(entry: dict[str, Any]) -> bool:
    """Whether a workload compares numbers of rows."""
    return entry["name"].startswith("scale")


def ours(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The row of surefit that counts."""
    return _counted(entry, OURS)


def fastest_peer(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The row of the fastest peer that passes the gate."""
    return _counted(entry, entry["fastest_peer"])


def ours_as_accurate(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The fastest row of surefit that is at least as accurate as the fastest peer; None if no setting that ran is."""
    peer = fastest_peer(entry)
    if peer is None:
        return None
    on = entry["gate"]["on"] if entry["gate"] else "distance"
    passing = [row for row in entry["rows"] if row["solver"] == OURS and row["passes"]]
    level = [row for row in passing if peer[on] is None or (row[on] is not None and row[on] <= peer[on])]
    return min(level, key=lambda row: row["seconds"], default=None)


class Task(NamedTuple):
    """One task of a workload of several: our row, and that of the fastest peer."""

    ours: dict[str, Any]
    peer: dict[str, Any]

    @property
    def ratio(self) -> float:
        """Time of the peer over ours."""
        return self.peer["seconds"] / self.ours["seconds"]


def tasks(rows: Sequence[dict[str, Any]]) -> Iterator[Task]:
    """Every task that surefit and a peer did, in the order of our rows."""
    for row in rows:
        peers = [other for other in rows if other["variant"] == row["variant"] and other["solver"] != OURS]
        if row["solver"] == OURS and row["counted"] and any(other["counted"] for other in peers):
            yield Task(row, min((other for other in peers if other["counted"]), key=lambda other: other["seconds"]))


class Speedup(NamedTuple):
    """Times of surefit with one and two threads; the serial share follows by Amdahl's law."""

    name: str
    one: float
    two: float

    @property
    def factor(self) -> float:
        """Time with one thread over time with two."""
        return self.one / self.two

    @property
    def serial(self) -> float:
        """The share s of the time that does not divide: two / one = s + (1 - s) / 2."""
        return min(max(2.0 * self.two / self.one - 1.0, 0.0), 1.0)

    @property
    def projected(self) -> float:
        """Speed-up on many cores if the serial share stays: 1 / (s + (1 - s) / cores)."""
        return 1.0 / (self.serial + (1.0 - self.serial) / MANY)


def speedups(one: dict[str, Any], two: dict[str, Any]) -> Iterator[Speedup]:
    """Every workload that surefit solved with one and with two threads."""
    second = {entry["name"]: ours(entry) for entry in two["workloads"]}
    for entry in one["workloads"]:
        first, other = ours(entry), second.get(entry["name"])
        if first is not None and other is not None and not grows(entry) and not entry["tasks"]:
            yield Speedup(entry["name"], first["seconds"], other["seconds"])


def _counted(entry: dict[str, Any], solver: str | None) -> dict[str, Any] | None:
    return next((row for row in entry["rows"] if row["solver"] == solver and row["counted"]), None)
