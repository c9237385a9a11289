"""Nearest rows in partitioned data: those of each partition are merged by distance and then by index."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows, weights_in
from surefit.core.sample import read_target
from surefit.neighbors.search import Tiles, search_for
from surefit.solvers.nearest_neighbors import LARGEST_SCREENED, squares_at


class How(NamedTuple):
    """The metric, and the function by which a partition reads its targets."""

    metric: str
    p: float
    scale: float  # power of two by which squares neither overflow nor underflow
    classes: np.ndarray | None


class Ballot(NamedTuple):
    """Neighbors of queries, nearest first: shape (queries, neighbors)."""

    distances: np.ndarray
    indices: np.ndarray  # among all rows
    weights: np.ndarray
    targets: np.ndarray  # class indices, numbers, or zeros
    keys: np.ndarray  # sort keys: squared Euclidean distances, which have fewer ties, else distances


def nearest_in(part: Part, k: int, how: How, weighted: bool, Q: np.ndarray) -> Ballot:
    """Return the ``k`` nearest rows of a partition or, if ``weighted``, the nearest rows of total weight ``k``."""
    w = weights_in(part)
    used = np.flatnonzero(w > 0)
    if not len(used) or not len(Q):
        nothing = np.zeros((len(Q), 0))
        return Ballot(nothing, nothing.astype(np.int64), nothing, nothing, nothing)
    X = part.X[used]
    search = search_for(X, algorithm="brute", metric=how.metric, p=how.p, metric_params=None)
    m = min(k, len(used))
    while True:
        distances, places = search.nearest(Q, m, 1)
        own = w[used[places]]
        if not weighted or m == len(used) or np.all(own.sum(axis=1) >= k):
            break
        m = min(2 * m, len(used))
    rows = used[places]
    targets: Any = np.zeros(len(w))
    if part.y is not None:
        y = read_target(part.y)
        targets = y if how.classes is None else np.searchsorted(how.classes, y)
    squares = isinstance(search, Tiles) and k <= LARGEST_SCREENED  # the search compares squares in this case
    keys = squares_at(X, Q, places, how.scale) if squares else distances
    return Ballot(distances, rows + part.start, own if weighted else np.ones(own.shape), targets[rows], keys)


def merged(a: Ballot, b: Ballot, k: int) -> Ballot:
    """Return the nearest rows of both partitions, up to the weight ``k``; ties go to the lower index."""
    both = [np.concatenate(pair, axis=1) for pair in zip(a, b, strict=True)]
    order = np.lexsort((both[1], both[4]), axis=1)
    found = Ballot(*(np.take_along_axis(values, order, axis=1) for values in both))
    before = np.cumsum(found.weights, axis=1) - found.weights
    needed = int(np.max(np.count_nonzero(before < k, axis=1), initial=0))
    return Ballot(*(values[:, :needed] for values in found))


class InPartitions(NamedTuple):
    """Search among rows in partitions."""

    rows: PartitionedRows
    how: How

    def ballot(self, Q: np.ndarray, k: int, weighted: bool) -> Ballot:
        """Return the neighbors of queries in memory, in one pass."""
        return self.rows.map_reduce(nearest_in, k, self.how, weighted, Q, combine=partial(merged, k=k))

    def nearest(self, Q: np.ndarray, k: int, n_jobs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices among all rows."""
        found = self.ballot(Q, k, False)
        return found.distances, found.indices


class Known(NamedTuple):
    """Precomputed neighbors of some queries."""

    found: Ballot

    def ballot(self, Q: np.ndarray, k: int, weighted: bool) -> Ballot:
        """Return the precomputed neighbors; the arguments are ignored."""
        return self.found


def largest(part: Part) -> tuple[float, int]:
    """Return the largest absolute value in rows of positive weight, and the number of these rows."""
    used = weights_in(part) > 0
    return float(np.max(np.abs(part.X[used]), initial=0.0)), int(np.count_nonzero(used))


def larger(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    """Return the larger absolute value and the sum of the numbers of rows."""
    return max(a[0], b[0]), a[1] + b[1]


def used_counts(part: Part) -> tuple[tuple[int, int], ...]:
    """Return the start of a partition and the number of its rows of positive weight."""
    return ((part.start, int(np.count_nonzero(weights_in(part) > 0))),)


def joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the concatenation of both tuples."""
    return a + b


def taken(part: Part, first: dict[int, int], ranks: np.ndarray) -> np.ndarray:
    """Return the rows of a partition with the given ranks among all rows of positive weight."""
    used, start = np.flatnonzero(weights_in(part) > 0), first[part.start]
    return part.X[used[ranks[(ranks >= start) & (ranks < start + len(used))] - start]]


def rows_at(rows: PartitionedRows, ranks: np.ndarray) -> np.ndarray:
    """Return the rows with the given ranks among all rows of positive weight, in two passes."""
    counts = rows.map_reduce(used_counts, combine=joined)
    ends = np.cumsum([count for _, count in counts])
    first = {start: int(end - count) for (start, count), end in zip(counts, ends, strict=True)}
    return rows.map_reduce(taken, first, ranks, combine=_stacked)


def _stacked(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])
