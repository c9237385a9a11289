r"""Optimal partition of a few points by branch and bound.

Points are placed one after another into a used cluster or into the next empty one, so every partition is enumerated
once. Both criteria only increase when a point is added, and :math:`f(S \cup R) \ge f(S) + f^*(R)`. The cost of the
points placed so far plus the smallest cost of the remaining points alone is therefore a lower bound for every
completion. The smallest costs are found by solving the problem for the last point, the last two points, and so on
(Brusco 2006); they are the witness of optimality.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.jit import compiled

SLICE = 500_000  # partial partitions between two checks of the budget: about a tenth of a second


class BestPartition(NamedTuple):
    """Result of the search."""

    labels: np.ndarray  # (n,) numbered in the order of first appearance
    value: float
    order: np.ndarray  # (n,) order in which the points were placed
    least: np.ndarray  # (n + 1,) smallest cost of the points order[t:], for t >= first_solved
    first_solved: int  # 0 if the search is complete
    visited: int  # number of partial partitions considered


def search(D: np.ndarray, weights: np.ndarray, k: int, by_size: bool, limit: int, budget: Budget) -> BestPartition:
    r"""Minimize over partitions into at most ``k`` clusters; ``D`` has the squared distances.

    The criterion is the inertia :math:`\sum_c P_c / N_c`, or :math:`\sum_c P_c` if ``by_size``, where :math:`P_c` sums :math:`w_i w_j
    d_{ij}` over the pairs in a cluster and :math:`N_c` is its weight. ``limit`` bounds the number of partial partitions; when it is
    reached, or the budget is spent, the best partition so far is returned.
    """
    order = _farthest_first(D)
    D, weights = D[np.ix_(order, order)], weights[order]
    n = len(weights)
    least, best = np.zeros(n + 1), np.zeros(n, dtype=np.int64)
    visited, first_solved = 0, n
    for t in range(n - 1, -1, -1):
        _add_in_front(D, weights, k, by_size, best, t)
        _descend(D, weights, k, by_size, best, t)
        point, value = t, _cost(D, weights, k, by_size, best, t)
        state = _State(np.full(n, -1), np.zeros(n + 1, dtype=np.int64), np.zeros((n + 1, k)), np.zeros((n + 1, k)))
        while point >= t and visited < limit and budget.stopped is None:
            size = min(SLICE, limit - visited)
            point, value, more = _search_slice(D, weights, k, by_size, least, best, state, t, point, value, size)
            visited += more
            budget.spent(visited)
        if point >= t:
            break
        least[t], first_solved = value, t
    for t in range(first_solved - 1, -1, -1):  # the search is incomplete: place the remaining points greedily
        _add_in_front(D, weights, k, by_size, best, t)
        _descend(D, weights, k, by_size, best, t)
    labels = np.empty(n, dtype=np.int64)
    labels[order] = best
    return BestPartition(
        _renumbered(labels), _cost(D, weights, k, by_size, best, 0), order, least, first_solved, visited
    )


def _renumbered(labels: np.ndarray) -> np.ndarray:
    """Number the clusters in the order of their first points."""
    used, first, place = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(used), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(used), dtype=np.int32)
    return rank[place.ravel()]


def _farthest_first(D: np.ndarray) -> np.ndarray:
    """Return an order in which each point is the farthest from the earlier points, so that partial costs grow early."""
    order = [int(np.argmax(D.sum(axis=1)))]
    nearest = D[order[0]].copy()
    nearest[order[0]] = -1.0
    while len(order) < len(D):
        order.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, D[order[-1]])
        nearest[order[-1]] = -1.0
    return np.array(order)


@compiled
def _total(pairs, mass, by_size):
    total = 0.0
    for c in range(len(pairs)):
        if mass[c] > 0:
            total += pairs[c] if by_size else pairs[c] / mass[c]
    return total


@compiled
def _tie(D, weights, labels, i, c, first):
    """Return the sum over the pairs of point i with the other points of cluster c, from point ``first`` on."""
    total = 0.0
    for j in range(first, len(labels)):
        if labels[j] == c and j != i:
            total += weights[j] * D[i, j]
    return weights[i] * total


@compiled
def _sums(D, weights, k, labels, first):
    pairs, mass = np.zeros(k), np.zeros(k)
    for i in range(first, len(labels)):
        mass[labels[i]] += weights[i]
        for j in range(first, i):
            if labels[j] == labels[i]:
                pairs[labels[i]] += weights[i] * weights[j] * D[i, j]
    return pairs, mass


@compiled
def _cost(D, weights, k, by_size, labels, first):
    pairs, mass = _sums(D, weights, k, labels, first)
    return _total(pairs, mass, by_size)


@compiled
def _add_in_front(D, weights, k, by_size, labels, t):
    """Assign point t to the cluster of later points with the smallest cost."""
    pairs, mass = _sums(D, weights, k, labels, t + 1)
    base, least, choice = _total(pairs, mass, by_size), np.inf, 0
    for c in range(k):
        tie = _tie(D, weights, labels, t, c, t + 1)
        before = 0.0 if mass[c] == 0 else pairs[c] if by_size else pairs[c] / mass[c]
        after = pairs[c] + tie if by_size else (pairs[c] + tie) / (mass[c] + weights[t])
        if base + after - before < least:
            least, choice = base + after - before, c
    labels[t] = choice


@compiled
def _descend(D, weights, k, by_size, labels, first):
    """Move single points while this lowers the cost."""
    pairs, mass = _sums(D, weights, k, labels, first)
    moving = True
    while moving:
        moving = False
        for i in range(first, len(labels)):
            own = labels[i]
            leave = _tie(D, weights, labels, i, own, first)
            here = _share(pairs[own], mass[own], by_size) - _share(pairs[own] - leave, mass[own] - weights[i], by_size)
            for c in range(k):
                if c == labels[i]:
                    continue
                join = _tie(D, weights, labels, i, c, first)
                there = _share(pairs[c] + join, mass[c] + weights[i], by_size) - _share(pairs[c], mass[c], by_size)
                if there < here * (1 - 1e-12):
                    own = labels[i]
                    pairs[own], mass[own] = pairs[own] - leave, mass[own] - weights[i]
                    pairs[c], mass[c] = pairs[c] + join, mass[c] + weights[i]
                    labels[i], here, leave, moving = c, there, join, True


@compiled
def _share(pairs, mass, by_size):
    return 0.0 if mass <= 1e-300 else pairs if by_size else pairs / mass


class _State(NamedTuple):
    """State of the search, which can be interrupted and resumed."""

    labels: np.ndarray
    used: np.ndarray  # clusters in use before point i
    pairs: np.ndarray
    mass: np.ndarray


@compiled
def _search_slice(D, weights, k, by_size, least, best, state, first, i, value, slice_size):
    """Continue the search from point ``i``; return (next point, best value, visited). Complete if the next point is < first."""
    n, visited = len(weights), 0
    labels, used, pairs, mass = state.labels, state.used, state.pairs, state.mass
    while i >= first and visited < slice_size:
        labels[i] += 1
        if labels[i] > min(used[i], k - 1):
            labels[i] = -1
            i -= 1
            continue
        visited += 1
        c = labels[i]
        tie = 0.0
        for j in range(first, i):
            if labels[j] == c:
                tie += weights[j] * D[i, j]
        pairs[i + 1], mass[i + 1] = pairs[i], mass[i]
        pairs[i + 1, c] += weights[i] * tie
        mass[i + 1, c] += weights[i]
        paid = _total(pairs[i + 1], mass[i + 1], by_size)
        if paid + least[i + 1] >= value:
            continue
        if i + 1 == n:
            value = paid
            best[first:] = labels[first:]
            continue
        used[i + 1] = max(used[i], c + 1)
        i += 1
    return i, value, visited
