"""K-means for points in partitions: passes of Lloyd's algorithm, and passes that draw initial centers.

The client sends centers to the partitions and receives cluster sums. Labels are recomputed when needed, so no array as
long as the data is kept. Random numbers belong to rows, so draws do not depend on how the rows are divided.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.distinct import unique_rows
from surefit.core.partitioned import Part, PartitionedRows, row_draws, weights_in
from surefit.solvers.clustering.assignments import fresh_sums, inertias, lower_to_new_center, own_distances
from surefit.solvers.clustering.lloyd import lloyd
from surefit.solvers.clustering.nearest import nearest
from surefit.solvers.clustering.points import (
    DensePoints,
    Summary,
    as_points,
    power_of_two,
    read_points,
    weighted_squares,
    weighted_sum,
)
from surefit.solvers.clustering.seeding import k_means_plus_plus

ROUNDS = 5  # of k-means||; further rounds do not lower the inertia (Bahmani et al. 2012, figure 5.1)
OVERSAMPLING = 2  # candidates per round and cluster
REDUCTIONS = 10  # k-means starts on the candidates, which are few


class Frame(NamedTuple):
    """Shift and scale of the points; see :mod:`surefit.solvers.clustering.points`."""

    shift: np.ndarray
    scale: float

    def points(self, part: Part) -> DensePoints:
        """Return the points of a partition."""
        return as_points(part.X, self.shift, self.scale)


class InPartitions:
    """Operations of Lloyd's algorithm on points in partitions: one pass per call."""

    labels = None  # the partitions recompute them when needed

    def __init__(self, rows: PartitionedRows) -> None:
        self.rows = rows
        total, first = rows.map_reduce(_total)
        self.shift = first / total
        squares = rows.map_reduce(_squares, self.shift)
        self.summary = Summary(total, self.shift, squares, squares)
        self.frame = Frame(self.shift, power_of_two(squares / total))
        self.centers = np.zeros((0, len(self.shift)))  # of the last assignment
        self._sums = np.zeros(0)

    def assign(self, values: np.ndarray, moves: np.ndarray | None) -> tuple[np.ndarray, bool]:
        """Assign the points to the centers; return the sums and whether they changed."""
        sums = self.rows.map_reduce(_assigned, self.frame, values)
        changed = not np.array_equal(sums, self._sums)
        self._sums, self.centers = sums, values
        return sums, changed

    def sum_again(self) -> np.ndarray:
        """Return the sums of the last assignment."""
        return self._sums

    def farthest(self, values: np.ndarray, placed: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the point farthest from its center and from the centers ``placed``; ties go to the first point."""
        return self.rows.map_reduce(_farthest, self.frame, values, placed, combine=_farther)

    def inertias(self, values: np.ndarray) -> np.ndarray:
        """Return J by cluster."""
        return self.rows.map_reduce(_inertias, self.frame, values)

    def draw(self, count: int, random: Any, centers: np.ndarray | None = None) -> np.ndarray:
        """Draw up to ``count`` distinct points with probability proportional to weight (times squared distance to ``centers``)."""
        seed = int(random.random() * 2**53)
        return self.rows.map_reduce(_drawn, self.frame, count, seed, centers, combine=_first_drawn).points

    def k_means_parallel(self, k: int, random: Any) -> np.ndarray:
        r"""Return ``k`` centers by k-means|| (Bahmani et al. 2012).

        A first point is drawn by weight. Each of five rounds draws 2k points with probability proportional to weight times squared
        distance to the points so far. One pass then weights every candidate by the rows nearest to it, and k-means in
        memory (the best of ten starts by k-means++) reduces the candidates to k centers.
        """
        candidates = self.draw(1, random)
        for _ in range(ROUNDS):
            candidates = np.vstack([candidates, self.draw(OVERSAMPLING * k, random, candidates)])
        weights = self.rows.map_reduce(_assigned, self.frame, candidates)[:, -2]
        points, summary = read_points(candidates, weights)
        starts = [k_means_plus_plus(points, weights, k, random) for _ in range(REDUCTIONS)]
        runs = [lloyd(points, weights, summary, start, tolerance=0.0, budget=Budget(100)) for start in starts]
        return min(runs, key=lambda run: run.inertia).centers

    def distinct_points(self, k: int, random: Any) -> np.ndarray:
        """Return ``k`` distinct points drawn by weight; points repeat only if there are fewer than ``k``."""
        drawn = self.draw(k, random)
        return drawn[np.arange(k) % len(drawn)]


class _Draws(NamedTuple):
    """Drawn points in the order of their keys, the smallest first."""

    keys: np.ndarray
    points: np.ndarray
    wanted: int


def _total(part: Part) -> tuple[float, np.ndarray]:
    weights = weights_in(part)
    return float(np.sum(weights)), weighted_sum(part.X, weights)


def _squares(part: Part, shift: np.ndarray) -> float:
    return weighted_squares(as_points(part.X, shift), weights_in(part))


def _assigned(part: Part, frame: Frame, values: np.ndarray) -> np.ndarray:
    points = frame.points(part)
    return fresh_sums(points, weights_in(part), nearest(points, len(part.X), values), len(values))


def _farthest(part: Part, frame: Frame, values: np.ndarray, placed: np.ndarray) -> tuple[float, np.ndarray]:
    points = frame.points(part)
    distances = own_distances(points, weights_in(part), nearest(points, len(part.X), values), values)
    for center in placed:
        lower_to_new_center(points, center, distances)
    at = int(np.argmax(distances))
    return float(distances[at]), part.X[at].astype(np.float64)


def _farther(a: tuple[float, np.ndarray], b: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
    return b if b[0] > a[0] else a


def _inertias(part: Part, frame: Frame, values: np.ndarray) -> np.ndarray:
    points = frame.points(part)
    return inertias(points, weights_in(part), nearest(points, len(part.X), values), values)


def _drawn(part: Part, frame: Frame, count: int, seed: int, centers: np.ndarray | None) -> _Draws:
    """Draw without replacement: select the smallest of independent exponential variables with the masses as rates."""
    masses = weights_in(part)
    if centers is not None:
        points = frame.points(part)
        masses = masses * own_distances(points, masses, nearest(points, len(part.X), centers), centers)
    used = np.flatnonzero(masses > 0)
    keys = -np.log1p(-row_draws(part.start, len(part.X), seed)[used, 0]) / masses[used]
    order = np.argsort(keys, kind="stable")
    wanted = 4 * count
    while True:  # equal rows count once: consider more rows if too many are equal
        first = order[:wanted]
        found = _distinct(keys[first], part.X[used[first]].astype(np.float64), count)
        if len(found.keys) == count or wanted >= len(order):
            return found
        wanted *= 4


def _distinct(keys: np.ndarray, points: np.ndarray, count: int) -> _Draws:
    """Keep the first ``count`` distinct points."""
    first = np.sort(unique_rows(points, return_index=True)[1])[:count]
    return _Draws(keys[first], points[first], count)


def _first_drawn(a: _Draws, b: _Draws) -> _Draws:
    keys, points = np.concatenate([a.keys, b.keys]), np.concatenate([a.points, b.points])
    order = np.argsort(keys, kind="stable")
    return _distinct(keys[order], points[order], a.wanted)
