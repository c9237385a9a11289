"""Kinds of columns, and columns that a node considers; code for categories and drawn columns is compiled only if there are any."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.solvers.boosting.splits import by_ratio


class Numbers(NamedTuple):
    """Columns of numbers only."""

    d: int


class Mixed(NamedTuple):
    """Columns of numbers and categories."""

    categorical: np.ndarray  # bool, one per column


class AllColumns(NamedTuple):
    """Every node considers all columns."""

    d: int


class SomeColumns(NamedTuple):
    """A node considers columns that may interact with those above it, or a random subset of them."""

    groups: np.ndarray  # bool, (sets of columns that may interact, columns); no sets: all columns may interact
    max_features: int  # number of columns considered per node


def kinds_of(categorical: np.ndarray) -> Any:
    """Return the kinds of the columns."""
    return Mixed(categorical) if categorical.any() else Numbers(len(categorical))


def considered(groups: np.ndarray, max_features: int) -> Any:
    """Return which columns a node considers."""
    d = groups.shape[1]
    return SomeColumns(groups, max_features) if len(groups) or max_features < d else AllColumns(d)


@generic
def sorted_bins(kinds, j, cells, n_bins, l2, scale, order):
    """Return the number of bins of column ``j`` and their order, which is empty for numbers; ``order`` is memory for it."""


@generic
def note_subset(kinds, j, node, order, place):
    """Write the categories up to ``place`` of the order to a node that is split by a categorical column."""


@generic
def allow(considered, sets, allowed, state):
    """Mark the columns that interaction sets allow, then keep a random subset of them; return the state of the generator."""


@generic
def narrowed(considered, sets, j):
    """Return the interaction sets, as bits, that contain column ``j`` too."""


@sorted_bins.register(Numbers)
def _(kinds, j, cells, n_bins, l2, scale, order):
    return n_bins, order[:0]


@sorted_bins.register(Mixed)
def _(kinds, j, cells, n_bins, l2, scale, order):
    if not kinds.categorical[j]:
        return n_bins, order[:0]
    count = by_ratio(cells, n_bins, l2, scale, order)
    return count, order[:count]


@note_subset.register(Numbers)
def _(kinds, j, node, order, place):
    return None


@note_subset.register(Mixed)
def _(kinds, j, node, order, place):
    subset = node.subset
    subset[:] = 0
    if kinds.categorical[j]:
        node.bin = -1
        for k in range(place + 1):
            b = order[k]
            subset[b >> 5] |= np.uint32(1) << np.uint32(b & 31)


@allow.register(AllColumns)
def _(considered, sets, allowed, state):
    return state


@allow.register(SomeColumns)
def _(considered, sets, allowed, state):
    groups, most, d = considered.groups, considered.max_features, len(allowed)
    if len(groups):
        allowed[:] = False
        for q in range(len(groups)):
            if (sets >> q) & 1:
                for j in range(d):
                    if groups[q, j]:
                        allowed[j] = True
    if most < d:
        members, count = np.empty(d, dtype=np.int64), 0
        for j in range(d):
            if allowed[j]:
                members[count] = j
                count += 1
        keep = min(most, count)
        allowed[:] = False
        for k in range(keep):  # partial Fisher-Yates shuffle
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            pick = k + np.int64((state >> np.uint64(33)) % np.uint64(count - k))
            members[k], members[pick] = members[pick], members[k]
            allowed[members[k]] = True
    return state


@narrowed.register(AllColumns)
def _(considered, sets, j):
    return sets


@narrowed.register(SomeColumns)
def _(considered, sets, j):
    for q in range(len(considered.groups)):
        if not considered.groups[q, j]:
            sets &= ~(np.int64(1) << q)
    return sets
