r"""Random choice of the initial centers among the points.

Draws process the points in an order that depends on their coordinates alone, and equal points are merged with the sum of their weights. A
row of weight two, two equal rows, and any order of the rows therefore give the same centers for the same seed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_blocks, tree_sum
from surefit.solvers.clustering.assignments import lower_to_new_center
from surefit.solvers.clustering.points import (
    SparsePoints,
    as_points,
    block_size,
    coordinates,
    coordinates_of,
    dot_point,
    squared_distance,
)


def k_means_plus_plus(points: Any, weights: np.ndarray, k: int, random, n_jobs: int | None = None) -> np.ndarray:
    r"""Return ``k`` centers by greedy k-means++ (Arthur and Vassilvitskii 2007).

    Each next center is the best of :math:`2 + \lfloor\ln k\rfloor` candidates, drawn with probability proportional to :math:`w_i` times
    the squared distance to the nearest center. The best candidate gives the smallest total of these distances. When every point is a
    center, the remaining centers repeat points.
    """
    n, trials = len(weights), 2 + int(math.log(k))
    order = canonical_order(points, n)
    centers = np.empty((k, len(points.shift)))
    centers[0] = coordinates(points, draw(weights, order, random.random(1))[0])
    closest = np.full(n, np.inf)
    for c in range(1, k):
        lower_to_new_center(points, centers[c - 1], closest, n_jobs)
        potential = weights * closest
        if not np.count_nonzero(potential):
            potential = weights
        candidates = draw(potential, order, random.random(trials))
        rows = coordinates_of(points, candidates)
        centers[c] = rows[int(np.argmin(_after_adding(points, weights, rows, closest, n_jobs)))]
    return centers


def distinct_points(points: Any, weights: np.ndarray, k: int, random) -> np.ndarray:
    """Return ``k`` distinct points drawn with probability proportional to weight; they repeat only if there are fewer."""
    n = len(weights)
    order = canonical_order(points, n)
    centers = np.empty((k, len(points.shift)))
    left = weights.copy()
    for c in range(k):
        chosen = draw(left if left.any() else weights, order, random.random(1))[0]
        centers[c] = coordinates(points, chosen)
        left[_equal_points(points, n, centers[c])] = 0.0
    return centers


def canonical_order(points: Any, n: int) -> np.ndarray:
    """Return an order of the points that does not depend on the order of the rows; equal points are adjacent, in any order."""
    return np.argsort(_keys(points, n, _direction(len(points.shift))))


@lru_cache(8)
def _direction(d: int) -> np.ndarray:
    return np.random.RandomState(0).random_sample(d) + 0.5


def canonical_groups(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Number the rows so that equal rows have equal numbers, independent of their order; rows of weight zero come last."""
    points = as_points(X, np.zeros(X.shape[1]))
    order = canonical_order(points, len(X))
    order = np.concatenate([order[weights[order] > 0], order[weights[order] == 0]])
    new = np.any(X[order[1:]] != X[order[:-1]], axis=1)
    groups = np.empty(len(X), dtype=np.int64)
    groups[order] = np.concatenate([[0], np.cumsum(new)])
    return groups


def _equal_points(points: Any, n: int, place: np.ndarray) -> np.ndarray:
    if isinstance(points, SparsePoints):
        return _equal_sparse(points, n, place)
    return np.all(points.values == place, axis=1)


def draw(masses: np.ndarray, order: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw points with probability proportional to their masses by inverting the distribution function."""
    cumulated = masses[order]
    return drawn(cumulated.cumsum(out=cumulated), order, uniforms)


def drawn(cumulated: np.ndarray | None, order: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw points like :func:`draw`, given the cumulative masses in the order ``order``; None means equal masses."""
    if cumulated is None:
        return order[(uniforms * len(order)).astype(np.int64)]
    total = cumulated[-1]
    place = cumulated.searchsorted(uniforms * total, side="right")
    if place.max(initial=0) == len(cumulated):  # a value was rounded up to the total
        place = np.minimum(place, cumulated.searchsorted(total, side="left"))  # the last point of positive mass
    return order[place]


def _after_adding(points, weights, candidates, closest, n_jobs) -> np.ndarray:
    """Return, for each candidate, the weighted sum of the squared distances to the nearest center if it is added."""
    n = len(weights)
    norms = np.einsum("kj,kj->k", candidates, candidates)

    def work(start: int, stop: int) -> np.ndarray:
        return _closest_block(points, weights, candidates, norms, closest, start, stop)

    return tree_sum(map_blocks(work, n, block_size(n), n_jobs))


@compiled
def _keys(points, n, direction):
    """Return inner products with one fixed direction: equal points have bitwise equal keys."""
    keys = np.empty(n)
    for i in range(n):
        keys[i] = dot_point(points, i, direction)
    return keys


@compiled
def _equal_sparse(points, n, place):
    """Return whether each row equals ``place``: equal entries, and no further entries in ``place``."""
    entries = np.count_nonzero(place)
    equal = np.empty(n, dtype=np.bool_)
    for i in range(n):
        matching, others = 0, 0
        for k in range(points.starts[i], points.starts[i + 1]):
            same = points.values[k] == place[points.columns[k]]
            matching += same and points.values[k] != 0
            others += not same
        equal[i] = others == 0 and matching == entries
    return equal


@compiled(relaxed=True)
def _closest_block(points, weights, candidates, norms, closest, start, stop):
    totals = np.zeros(len(candidates))
    for i in range(start, stop):
        for c in range(len(candidates)):
            totals[c] += weights[i] * min(squared_distance(points, i, candidates[c], norms[c]), closest[i])
    return totals
