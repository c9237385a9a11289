"""Histograms of the waiting nodes of growing trees, computed from rows in partitions as lists of nonempty cells."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.cells import Cells

CODES = 256  # number of codes of a column; the last one means missing


class Shape(NamedTuple):
    """Growing tree in a partition, by node. A right child follows its left sibling."""

    feature: np.ndarray
    code: np.ndarray  # values with this code or a smaller one go left
    missing_left: np.ndarray
    left: np.ndarray  # -1: no children


NO_NODES = Shape(*(np.zeros(0, dtype=kind) for kind in (np.int32, np.int16, np.bool_, np.int32)))


class NewSplits(NamedTuple):
    """Splits of a tree since the last pass, and its number of nodes."""

    size: int
    nodes: np.ndarray
    splits: Shape  # of these nodes


class Frontier(NamedTuple):
    """Nodes of a tree that request histograms, and the columns of each request."""

    nodes: np.ndarray
    starts: np.ndarray  # request p is for columns[starts[p] : starts[p + 1]]
    columns: np.ndarray


class Counted(NamedTuple):
    """Nonempty cells of histograms, and the smallest and largest target of each requesting node."""

    keys: np.ndarray  # CODES times the position of the column among all requested ones, plus the code; ascending
    cells: np.ndarray
    low: np.ndarray
    high: np.ndarray


def sum_cells(cells: Cells, width: int) -> np.ndarray:
    """Return the integer sums over the rows of a partition, one line per tree."""
    if not len(cells.cells):
        return np.zeros((max(len(cells.counts), 1), width), dtype=np.int64)
    if not len(cells.counts):
        return cells.cells.sum(axis=0)[None]
    found = np.array([counts.astype(np.int64) @ cells.cells for counts in cells.counts])
    found[:, 0] = np.count_nonzero(cells.counts, axis=1)
    return found


def extend(cells: Cells, new: dict[int, NewSplits], trees: dict[int, Shape] | None = None) -> dict[int, Shape]:
    """Return the growing trees of a partition with the splits since the last pass; complete trees are dropped."""
    found = {}
    trees = trees or {}
    for t, (size, nodes, splits) in new.items():
        before, lines = trees.get(t, NO_NODES), []
        for name, old, own in zip(Shape._fields, before, splits, strict=True):
            whole = np.full(size, -1 if name == "left" else 0, dtype=old.dtype)
            whole[: len(old)], whole[nodes] = old, own
            lines.append(whole)
        found[t] = Shape(*lines)
    return found


def count_rows(cells: Cells, asked: dict[int, Frontier], trees: dict[int, Shape]) -> dict[int, Counted]:
    """Return the requested histograms of each tree, from the rows of a partition."""
    return {
        t: _counted(cells, cells.counts[t] if len(cells.counts) else EVERY, trees[t], own) for t, own in asked.items()
    }


EVERY = np.zeros(0, dtype=np.uint8)  # no bootstrap: every row counts once


def _counted(cells: Cells, counts: np.ndarray, tree: Shape, frontier: Frontier) -> Counted:
    size, place = len(frontier.nodes), np.full(len(tree.left), -1, dtype=np.int32)
    place[frontier.nodes] = np.arange(size)
    low, high = np.full(size, math.inf), np.full(size, -math.inf)
    rows, first = _by_place(cells.codes, counts, cells.y, tree, place, low, high)
    room = int(np.sum(np.diff(frontier.starts) * np.minimum(np.diff(first), CODES)))
    keys, found = np.empty(room, dtype=np.int64), np.empty((room, cells.cells.shape[1]), dtype=np.int64)
    used = _fill(cells.codes, cells.cells, counts, rows, first, frontier.starts, frontier.columns, keys, found)
    return Counted(keys[:used].copy(), found[:used].copy(), low, high)


def joined(a: dict[int, Counted], b: dict[int, Counted]) -> dict[int, Counted]:
    """Merge the histograms and ranges of two partitions."""
    found = {}
    for t, one in a.items():
        other = b[t]
        keys, cells = _merged(one.keys, one.cells, other.keys, other.cells)
        found[t] = Counted(keys, cells, np.minimum(one.low, other.low), np.maximum(one.high, other.high))
    return found


@compiled
def _by_place(codes, counts, y, tree, place, low, high):
    """Return the rows ordered by requesting node, and the start of each node; update the ranges of the targets."""
    feature, code, missing_left, left = tree
    at = np.full(len(codes), -1, dtype=np.int64)
    first = np.zeros(len(low) + 1, dtype=np.int64)
    for i in range(len(codes)):
        if len(counts) > 0 and counts[i] == 0:
            continue
        node = 0
        while left[node] >= 0:
            own = codes[i, feature[node]]
            to_left = missing_left[node] if own == 255 else own <= code[node]
            node = left[node] if to_left else left[node] + 1
        asked = place[node]
        at[i] = asked
        if asked >= 0:
            low[asked], high[asked] = min(low[asked], y[i]), max(high[asked], y[i])
            first[asked + 1] += 1
    for p in range(1, len(first)):
        first[p] += first[p - 1]
    rows, free = np.empty(first[-1], dtype=np.int64), first.copy()
    for i in range(len(codes)):
        if at[i] >= 0:
            rows[free[at[i]]] = i
            free[at[i]] += 1
    return rows, first


@compiled
def _fill(codes, cells, counts, rows, first, starts, columns, keys, found):
    """Write the nonempty cells in ascending order of their keys; return their number."""
    width, used = cells.shape[1], 0
    line = np.zeros((256, width), dtype=np.int64)
    for p in range(len(starts) - 1):
        for c in range(starts[p], starts[p + 1]):
            least, largest = 255, -1
            for k in range(first[p], first[p + 1]):
                i = rows[k]
                own: Any = np.int64(codes[i, columns[c]])
                times: Any = np.int64(counts[i]) if len(counts) > 0 else np.int64(1)
                line[own, 0] += 1
                for q in range(1, width):
                    line[own, q] += times * cells[i, q]
                least, largest = min(least, own), max(largest, own)
            for own in range(least, largest + 1):
                if line[own, 0] == 0:
                    continue
                keys[used] = 256 * c + own
                for q in range(width):
                    found[used, q] = line[own, q]
                    line[own, q] = 0
                used += 1
    return used


@compiled
def _merged(a, cells, b, others):
    """Merge two ascending lists of keys; cells with the same key are added."""
    keys = np.empty(len(a) + len(b), dtype=np.int64)
    sums = np.empty((len(a) + len(b), cells.shape[1]), dtype=np.int64)
    i, j, used = 0, 0, 0
    while i < len(a) or j < len(b):
        first = j >= len(b) or (i < len(a) and a[i] <= b[j])
        second = i >= len(a) or (j < len(b) and b[j] <= a[i])
        keys[used] = a[i] if first else b[j]
        for q in range(cells.shape[1]):
            sums[used, q] = (cells[i, q] if first else 0) + (others[j, q] if second else 0)
        i, j, used = i + first, j + second, used + 1
    return keys[:used].copy(), sums[:used].copy()
