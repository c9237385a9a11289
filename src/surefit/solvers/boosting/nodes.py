"""Data of a growing tree: binned columns, limits, nodes in arrays, and memory shared by all trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MOST_ROWS = 8192  # in a block of the rows of a node


class Columns(NamedTuple):
    """The binned columns and their constraints."""

    words: np.ndarray  # (groups of four columns, rows)
    by_row: np.ndarray  # the same, (rows, groups)
    n_bins: np.ndarray
    has_missing: np.ndarray
    monotone: np.ndarray  # -1, 0 or 1
    kinds: Any  # Numbers or Mixed
    considered: Any  # AllColumns or SomeColumns


class Limits(NamedTuple):
    """Limits on the growth of a tree."""

    max_leaves: int  # 0: no limit
    max_depth: int
    min_gain: float


#: A node; node 0 is the root, and children have larger indices than their parent. One array of nodes is an argument of fewer
#: parts than one array per field, so that functions with nodes are compiled faster.
NODE = np.dtype(
    [
        ("feature", np.int32),  # -1: a leaf
        ("bin", np.int32),  # largest code that goes left
        ("missing_left", np.bool_),
        ("left", np.int32),
        ("right", np.int32),
        ("subset", np.uint32, 8),  # bits of the categories that go left
        ("gain", np.float64),
        ("low", np.float64),  # limits of the value
        ("high", np.float64),
        ("first", np.int64),  # range of rows
        ("last", np.int64),
        ("depth", np.int32),
        ("gradient", np.int64),  # integer sums
        ("packed", np.int64),
        ("sets", np.int64),  # bits of the interaction sets that are still possible
        ("slot", np.int64),  # slot of the histogram; -1: released
        ("value", np.float64),  # of a leaf, times the learning rate
    ],
    align=True,
)

#: The best split of a node by one column.
CHOICE = np.dtype(
    [
        ("allowed", np.bool_),  # whether the node considers the column
        ("gain", np.float64),
        ("place", np.int64),  # of the last bin that goes left; -1: no split is good enough
        ("missing_left", np.bool_),
    ],
    align=True,
)


class Workspace(NamedTuple):
    """Memory shared by all trees."""

    cells: np.ndarray  # (rows, 2), rounded derivatives
    rows: np.ndarray
    slack: np.ndarray
    begins: np.ndarray  # for each block of the rows of a node: number of rows before it that go left
    table: np.ndarray  # which of the 256 codes go left
    choices: np.recarray  # (2 children, columns)
    histograms: np.ndarray  # (slots, columns, 256, 2); the last slots are those of assistants


class Derivatives(NamedTuple):
    """Derivatives and curvatures of the rows for one score, and the scores."""

    g: np.ndarray
    h: np.ndarray
    z: np.ndarray


class Job(NamedTuple):
    """Everything that the threads of a growing tree need."""

    columns: Columns
    scale: Any
    rules: Any
    limits: Limits
    rate: float  # learning rate; 0: the leaves get their values elsewhere
    nodes: np.recarray
    space: Workspace
    own: Derivatives
    board: np.ndarray  # the current task; see :mod:`surefit.solvers.boosting.team`


def make_nodes(most: int) -> np.recarray:
    """Allocate ``most`` nodes."""
    nodes = np.zeros(most, dtype=NODE).view(np.recarray)
    nodes.low, nodes.high = -np.inf, np.inf
    for name in ("feature", "sets", "slot"):
        nodes[name] = -1
    return nodes


def make_workspace(n: int, d: int, slots: int) -> Workspace:
    """Allocate memory for trees on ``n`` rows of ``d`` columns."""
    return Workspace(
        np.empty((n, 2), dtype=np.int64),
        np.empty(n, dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty(n // MOST_ROWS + 11, dtype=np.int64),
        np.empty(256, dtype=np.bool_),
        np.zeros((2, d), dtype=CHOICE).view(np.recarray),
        np.empty((slots, 4 * -(-d // 4), 256, 2), dtype=np.int64),
    )
