"""Points in memory and their clusters: labels, cluster sums and distances to the assigned centers."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, sum_blocks, tree_sum
from surefit.solvers.clustering.nearest import as_centers, assign, no_bounds
from surefit.solvers.clustering.points import (
    add_point,
    block_size,
    coordinates,
    squared_distance,
)

TILE = 256


class InMemory:
    """Operations of Lloyd's algorithm on points in memory; bounds and sums are kept between two assignments."""

    def __init__(self, points: Any, weights: np.ndarray, k: int, n_jobs: int | None) -> None:
        self.points, self.weights, self.n_jobs, self.shift = points, weights, n_jobs, points.shift
        self._bounds = no_bounds(len(weights))
        self._sums = np.zeros((k, len(points.shift) + 2))
        self._distances = np.zeros(0)

    @property
    def labels(self) -> np.ndarray:
        """Labels of the last assignment."""
        return self._bounds.labels

    def assign(self, values: np.ndarray, moves: np.ndarray | None) -> tuple[np.ndarray, bool]:
        """Assign the points to centers that moved by ``moves``; return the sums and whether a label changed."""
        centers = as_centers(self.points, values)
        change, changed = assign(self.points, self.weights, centers, self._bounds, moves, self.n_jobs)
        self._sums = _without_dust(self._sums + change)
        return self._sums, changed > 0

    def sum_again(self) -> np.ndarray:
        """Recompute the sums of the last assignment, without the rounding errors of incremental updates."""
        self._sums = fresh_sums(self.points, self.weights, self.labels, len(self._sums), self.n_jobs)
        return self._sums

    def farthest(self, values: np.ndarray, placed: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the point farthest from its center and from the centers ``placed``, which grows by one center per call."""
        if len(placed):
            lower_to_new_center(self.points, placed[-1], self._distances)
        else:
            self._distances = own_distances(self.points, self.weights, self.labels, values)
        at = int(np.argmax(self._distances))
        return float(self._distances[at]), coordinates(self.points, at)

    def inertias(self, values: np.ndarray) -> np.ndarray:
        """Return J by cluster."""
        return inertias(self.points, self.weights, self.labels, values, self.n_jobs)


def inertia_at(points: Any, weights: np.ndarray, centers: np.ndarray, labels: np.ndarray) -> float:
    """Return J for given centers and labels."""
    norms = np.einsum("kj,kj->k", centers, centers)
    n = len(weights)
    parts = map_blocks(
        lambda a, b: float(weights[a:b] @ _own_distances(points, weights, labels, centers, norms, a, b)),
        n,
        block_size(n),
    )
    return float(tree_sum(parts))


def own_distances(points, weights, labels, values) -> np.ndarray:
    """Return the squared distance of each point to its center; zero for points of weight zero."""
    norms = np.einsum("kj,kj->k", values, values)
    return np.concatenate(
        map_blocks(lambda a, b: _own_distances(points, weights, labels, values, norms, a, b), len(weights), 4096)
    )


def lower_to_new_center(points, center, distances, n_jobs=None) -> None:
    """Replace each distance by that to ``center`` if this is smaller."""
    n, norm = len(distances), float(center @ center)
    map_blocks(lambda a, b: _lower_to_new_center(points, center, norm, distances, a, b), n, block_size(n), n_jobs)


def fresh_sums(points, weights, labels, k, n_jobs=None) -> np.ndarray:
    """Return the sums of all clusters, shape (k, d + 2), in the format of :func:`surefit.solvers.clustering.nearest.assign`."""
    n, d = len(weights), len(points.shift)

    def work(start: int, stop: int) -> np.ndarray:
        out = np.zeros((k, d + 2))
        _sum_block(points, weights, labels, start, stop, out)
        return out

    return sum_blocks(work, n, block_size(n, k * (d + 2)), n_jobs)


def inertias(points, weights, labels, values, n_jobs=None) -> np.ndarray:
    """Return J by cluster."""
    n, norms = len(weights), np.einsum("kj,kj->k", values, values)

    def work(start: int, stop: int) -> np.ndarray:
        out = np.zeros(len(values))
        _inertia_block(points, weights, labels, values, norms, start, stop, out)
        return out

    return sum_blocks(work, n, block_size(n), n_jobs)


def _without_dust(sums: np.ndarray) -> np.ndarray:
    """Set sum and weight of clusters without points to exactly zero."""
    if np.count_nonzero(sums[:, -1]) < len(sums):  # which takes a third of the time of all()
        sums[sums[:, -1] == 0] = 0.0
    return sums


@compiled(relaxed=True)
def _own_distances(points, weights, labels, values, norms, start, stop):
    out = np.zeros(stop - start)
    for i in range(start, stop):
        if weights[i] > 0:
            out[i - start] = squared_distance(points, i, values[labels[i]], norms[labels[i]])
    return out


@compiled(relaxed=True)
def _lower_to_new_center(points, center, norm, distances, start, stop):
    for i in range(start, stop):
        if distances[i] > 0:
            distances[i] = min(distances[i], squared_distance(points, i, center, norm))


@compiled(relaxed=True)
def _sum_block(points, weights, labels, start, stop, out):
    d = len(points.shift)
    for i in range(start, stop):
        target = out[labels[i]]
        add_point(points, i, weights[i], target[:d])
        target[d] += weights[i]
        target[d + 1] += np.sign(weights[i])


@compiled(relaxed=True)
def _inertia_block(points, weights, labels, values, norms, start, stop, out):
    for i in range(start, stop):
        own = labels[i]
        out[own] += weights[i] * squared_distance(points, i, values[own], norms[own])
