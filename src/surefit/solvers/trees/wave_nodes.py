"""Nodes of a tree that grows over partitions, and what they ask of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from surefit.solvers.trees import flat


class Question(NamedTuple):
    """A node, and the columns whose histograms it needs, in the order in which the node draws them."""

    node: int
    columns: np.ndarray


class Found(NamedTuple):
    """The best split of a node."""

    decrease: float
    feature: int
    code: int  # values with this code or a smaller one go left
    missing_left: bool


@dataclass
class Node:
    """A node on the client, with the integers that its rows sum up to."""

    cells: np.ndarray
    depth: int
    state: int  # of its random numbers
    closed: np.ndarray  # columns that it cannot use: other columns than those of the tree, and constant ones
    low: float = -math.inf
    high: float = math.inf
    spread: float = 0.0
    reason: int = flat.SPLIT
    split: Found | None = None
    threshold: float = math.nan
    children: list[int] = field(default_factory=list)
    left: np.ndarray | None = None  # integers of the rows that go left
    rows: int = 0
    weight: float = 0.0
    classes: int = 0  # that have rows, for labels
    sums: np.ndarray = field(default_factory=lambda: np.zeros(0))
