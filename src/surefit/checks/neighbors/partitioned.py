"""Comparison of recorded neighbors with all distances, partition by partition."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.judge import no_claim
from surefit.checks.neighbors.distances import distances
from surefit.core.partitioned import Part, PartitionedRows, weights_in

no_claim(
    "knn.elsewhere",
    says="The model refers to rows in partitions and does not keep them: nothing is claimed about what they contain when it predicts.",
)


class Compared(NamedTuple):
    """For some rows: lower bounds on the smallest distances, and the distances to recorded neighbors, with radii."""

    least: np.ndarray  # (rows, at most k) mid - rad, ascending
    least_rad: np.ndarray
    own: np.ndarray  # (rows, k) mid, nan if the neighbor is in another partition
    own_rad: np.ndarray


def compared(rows: PartitionedRows, how: dict[str, Any], ranks: np.ndarray, recorded: np.ndarray) -> Compared:
    """Compare the recorded neighbors of the rows of given ranks (among those of positive weight) with all distances."""
    counts = rows.map_reduce(_counted, combine=_both)
    ends = np.cumsum([count for _, count in counts])
    first = {start: int(end - count) for (start, count), end in zip(counts, ends, strict=True)}
    queries = rows.map_reduce(_taken, first, ranks, combine=_stacked)
    return rows.map_reduce(_measured, how, queries, recorded, combine=partial(_nearer, k=recorded.shape[1]))


def count_used(rows: PartitionedRows) -> int:
    """Return the number of rows of positive weight."""
    return sum(count for _, count in rows.map_reduce(_counted, combine=_both))


def _used(part: Part) -> np.ndarray:
    return np.flatnonzero(weights_in(part) > 0)


def _counted(part: Part) -> tuple[tuple[int, int], ...]:
    return ((part.start, len(_used(part))),)


def _both(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return a + b


def _taken(part: Part, first: dict[int, int], ranks: np.ndarray) -> np.ndarray:
    used, start = _used(part), first[part.start]
    return part.X[used[ranks[(ranks >= start) & (ranks < start + len(used))] - start]]


def _stacked(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])


def _measured(part: Part, how: dict[str, Any], queries: np.ndarray, recorded: np.ndarray) -> Compared:
    used, (count, k) = _used(part), recorded.shape
    table = np.concatenate([queries, part.X[used]])
    found = distances(how, table, np.arange(count), np.arange(count, len(table)))
    assert found is not None
    low = found.mid - found.rad
    order = np.argsort(low, axis=1, kind="stable")[:, :k]
    own, own_rad = np.full((count, k), np.nan), np.full((count, k), np.nan)
    position = np.full(len(part.X), -1)
    position[used] = np.arange(len(used))
    here = (recorded >= part.start) & (recorded < part.start + len(part.X))
    places = position[np.where(here, recorded - part.start, 0)] if len(part.X) else np.full((count, k), -1)
    here &= places >= 0
    if len(used):
        lines = np.arange(count)[:, None]
        own = np.where(here, found.mid[lines, places], np.nan)
        own_rad = np.where(here, found.rad[lines, places], np.nan)
    least, least_rad = (np.take_along_axis(values, order, axis=1) for values in (low, found.rad))
    return Compared(least, least_rad, own, own_rad)


def _nearer(a: Compared, b: Compared, k: int) -> Compared:
    least, radii = (np.concatenate(pair, axis=1) for pair in zip(a[:2], b[:2], strict=True))
    order = np.argsort(least, axis=1, kind="stable")[:, :k]
    least, radii = (np.take_along_axis(values, order, axis=1) for values in (least, radii))
    return Compared(least, radii, *(np.where(np.isnan(x), y, x) for x, y in zip(a[2:], b[2:], strict=True)))
