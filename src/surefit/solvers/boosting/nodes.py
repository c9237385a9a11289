"""Data of a growing tree: binned columns, limits, nodes in arrays, and memory shared by all trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Columns(NamedTuple):
    """The binned columns and their constraints."""

    words: np.ndarray  # (groups of four columns, rows)
    by_row: np.ndarray  # the same, (rows, groups)
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray
    monotone: np.ndarray  # -1, 0 or 1
    groups: np.ndarray  # bool, (sets of columns that may interact, columns); no sets: all columns may interact
    max_features: int  # number of columns considered per node


class Limits(NamedTuple):
    """Limits on the growth of a tree."""

    max_leaves: int  # 0: no limit
    max_depth: int
    min_gain: float


class Nodes(NamedTuple):
    """Tree in arrays; node 0 is the root, and children have larger indices than their parent."""

    feature: np.ndarray  # -1: a leaf
    bin: np.ndarray  # largest code that goes left
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    subset: np.ndarray  # (nodes, 8) words of 32 bits: the categories that go left
    gain: np.ndarray
    low: np.ndarray  # limits of the value
    high: np.ndarray
    first: np.ndarray  # range of rows
    last: np.ndarray
    depth: np.ndarray
    gradient: np.ndarray  # integer sums
    packed: np.ndarray
    sets: np.ndarray  # bits of the interaction sets that are still possible
    slot: np.ndarray  # slot of the histogram; -1: released


class Workspace(NamedTuple):
    """Memory shared by all trees."""

    rows: np.ndarray
    slack: np.ndarray
    histograms: np.ndarray  # (slots, columns, 256, 2)


def make_nodes(most: int) -> Nodes:
    """Allocate ``most`` nodes."""
    whole = np.zeros(most, dtype=np.int64)
    small = np.zeros(most, dtype=np.int32)
    real = np.zeros(most)
    return Nodes(
        np.full(most, -1, dtype=np.int32),
        small.copy(),
        np.zeros(most, dtype=bool),
        small.copy(),
        small.copy(),
        np.zeros((most, 8), dtype=np.uint32),
        real.copy(),
        np.full(most, -np.inf),
        np.full(most, np.inf),
        whole.copy(),
        whole.copy(),
        small.copy(),
        whole.copy(),
        whole.copy(),
        np.full(most, -1, dtype=np.int64),
        np.full(most, -1, dtype=np.int64),
    )


def make_workspace(n: int, n_groups: int, slots: int) -> Workspace:
    """Allocate memory for trees on ``n`` rows."""
    return Workspace(
        np.empty(n, dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty((slots, 4 * n_groups, 256, 2), dtype=np.int64),
    )
