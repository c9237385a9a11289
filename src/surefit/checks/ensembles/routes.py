"""Routing of training rows through boosted trees, in blocks of rows that stay in the cache."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into

ROWS = 2048  # in a block


class BoostedTree(NamedTuple):
    """Nodes of one tree; values up to ``cut``, or categories in ``subset``, go left."""

    feature: np.ndarray
    cut: np.ndarray
    coded: np.ndarray  # whether the node splits categories
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    subset: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


@compiled
def _route(
    columns: Any, start: Any, tree: BoostedTree, base: Any, stop: Any, bins: Any, space: Any, found: Any
) -> None:
    """Write the leaf of each of ``len(found)`` rows from ``start`` on, in the tree with nodes ``base`` to ``stop``."""
    feature, cut, coded, missing_left, left, right, subset, _, _, _ = tree
    n, rows, slack = len(found), space[0], space[1]
    first, last = np.zeros(stop - base, dtype=np.int64), np.zeros(stop - base, dtype=np.int64)
    last[0] = n
    for i in range(n):
        rows[i] = i
    for node in range(stop - base):  # children come after their parents
        at, begin, end = base + node, first[node], last[node]
        j = feature[at]
        if j < 0:
            for k in range(begin, end):
                found[rows[k]] = at
            continue
        line, top, lost = columns[j, start : start + n], cut[at], missing_left[at]
        own, middle = rows[begin:end], np.int64(0)
        for k in range(len(own)):  # unsigned indices need no test of the sign
            row = own[k]
            x = line[row]
            goes_left = (x <= top) | ((x != x) & lost)
            if coded[at]:
                goes_left = _in_subset(subset[at], bins[0][j, : bins[1][j]], x, lost)
            own[np.uint64(middle)] = row  # overwritten by the next row if this one goes right
            slack[np.uint64(k - middle)] = row
            middle += np.int64(goes_left)
        copy_into(own[middle:], slack[: len(own) - middle])
        first[left[at]], last[left[at]], first[right[at]], last[right[at]] = begin, begin + middle, begin + middle, end


@compiled
def _in_subset(subset: Any, categories: Any, x: Any, lost: Any) -> Any:
    """Return whether a category goes left; unknown categories follow the missing values."""
    place: Any = np.int64(0)
    stop: Any = len(categories)
    while place < stop:  # np.searchsorted takes longer to compile
        middle = (place + stop) // 2
        if categories[middle] < x:
            place = middle + 1
        else:
            stop = middle
    if place < len(categories) and categories[place] == x:
        return (subset[place >> 5] >> np.uint32(place & 31)) & 1 == 1
    return lost


def leaves_of(columns: Any, tree: BoostedTree, bins: Any) -> np.ndarray:
    """Return the leaf of each row; ``columns`` is X transposed, ``bins`` has the categories of each column."""
    places, found = np.arange(float(len(tree.feature))), np.zeros((2, columns.shape[1]))
    add_steps(columns, tree._replace(value=places), np.array([0, len(places)]), bins, found[:1], found[1:])
    return found[0].astype(np.int64)


@compiled
def add_steps(columns: Any, trees: BoostedTree, starts: Any, bins: Any, z: Any, size: Any) -> None:
    """Add the values of all trees, in order, to the scores, and their absolute values to ``size``."""
    found, space = np.empty(ROWS, dtype=np.int64), np.empty((2, ROWS), dtype=np.uint32)
    for start in range(0, columns.shape[1], ROWS):
        count = min(ROWS, columns.shape[1] - start)
        for t in range(len(starts) - 1):
            k = t % len(z)
            _route(columns, start, trees, starts[t], starts[t + 1], bins, space, found[:count])
            for i in range(count):
                step = trees.value[found[i]]
                z[k, start + i] += step
                size[k, start + i] += abs(step)
