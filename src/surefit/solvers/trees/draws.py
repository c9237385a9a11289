"""Columns that a node considers: all of them, or some of them drawn at random, or one random cut per column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.loops import ascending
from surefit.solvers.trees.data import cut_column, is_constant, random_cut
from surefit.solvers.trees.nodes import Rules

FEW = 24  # more columns are sorted by their ranks


class AllColumns(NamedTuple):
    """All cuts of all columns. They have a type of their own, so that no code for random numbers is compiled."""

    d: int


class RandomColumns(NamedTuple):
    """Some columns per node, or one random cut per column."""

    max_features: int
    random_cuts: bool
    order: np.ndarray  # (d,) int64 columns, the considered ones first
    state: np.ndarray  # (1,) uint64, state of the random number generator


def draws_of(rules: Rules, d: int) -> Any:
    """Return which columns the nodes of a tree consider."""
    if rules.max_features >= d and not rules.random_cuts:
        return AllColumns(d)
    state = np.array([rules.seed], dtype=np.uint64)
    return RandomColumns(rules.max_features, rules.random_cuts, np.arange(d), state)


@generic
def n_considered(draws, data, start, stop):
    """Draw the columns of the node in places ``start .. stop``; return their number."""


@generic
def column_at(draws, i):
    """Return column ``i`` of those considered."""


@generic
def cut_of(draws, data, target, j, start, stop, weight, sums, limits):
    """Return the best cut of column ``j``, or its random one."""


@n_considered.register(AllColumns)
def _(draws, data, start, stop):
    return draws.d


@column_at.register(AllColumns)
def _(draws, i):
    return i


@cut_of.register(AllColumns)
def _(draws, data, target, j, start, stop, weight, sums, limits):
    return cut_column(data, target, j, start, stop, weight, sums, limits)


@compiled
def next_random(random, bound):
    """Return a random number below ``bound`` by splitmix64, and advance its state."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(11)) * (bound / 9007199254740992.0))


@compiled
def next_share(random):
    """Return a random number in [0, 1), which determines a random cut, and advance the state."""
    return next_random(random, 1 << 53) / 9007199254740992.0


@compiled
def last_code(edges, low, high, share):
    """Return the largest code on the left of a random cut, which is uniform between the centers of the lowest and highest bin."""
    if low >= high:
        return high
    cut = _center(edges, low)
    cut += share * (_center(edges, high) - cut)
    if not abs(cut) < np.inf:  # categories, or differences that overflow
        return low + np.int64(share * (high - low))
    first, last = low, high - 1
    while first < last:  # the last bin whose center is not above the cut
        middle = (first + last + 1) >> 1
        if _center(edges, middle) <= cut:
            first = middle
        else:
            last = middle - 1
    return first


@compiled
def between(left, right):
    """Return the code whose edge is in the middle between the largest code on the left and the smallest one on the right."""
    return (left + right - 1) >> 1


@compiled
def _center(edges, code):
    """Return the middle of a bin; of the first and the last bin, the only edge."""
    below = edges[max(code - 1, 0)]
    above = edges[code] if code < len(edges) else np.inf
    return below / 2.0 + (above if above < np.inf else below) / 2.0


@n_considered.register(RandomColumns)
def _(draws, data, start, stop):
    order = draws.order
    d, useful, taken = len(order), 0, 0
    if draws.max_features >= d:
        return d
    while taken < d and useful < draws.max_features:  # constant columns do not count
        other = taken + next_random(draws.state, d - taken)
        order[taken], order[other] = order[other], order[taken]
        if not is_constant(data, order[taken], start, stop):
            useful += 1
        taken += 1
    if taken <= FEW:
        for k in range(1, taken):  # ties go to the lowest column for any order of drawing
            column, p = order[k], k
            while p > 0 and order[p - 1] > column:
                order[p] = order[p - 1]
                p -= 1
            order[p] = column
        return taken
    numbers = np.empty(taken)
    for k in range(taken):
        numbers[k] = order[k]
    ranks = ascending(numbers)
    for k in range(taken):
        order[k] = np.int64(numbers[ranks[k]])
    return taken


@column_at.register(RandomColumns)
def _(draws, i):
    return draws.order[i]


@cut_of.register(RandomColumns)
def _(draws, data, target, j, start, stop, weight, sums, limits):
    if not draws.random_cuts:
        return cut_column(data, target, j, start, stop, weight, sums, limits)
    return random_cut(data, target, j, start, stop, next_share(draws.state), weight, sums, limits)
