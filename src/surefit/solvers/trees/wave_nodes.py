"""Nodes of a tree that is grown on rows in partitions, and the histograms that they request."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from surefit.solvers.trees import flat


class Question(NamedTuple):
    """Request of a node for the histograms of some columns, in the order in which the node draws them."""

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
    """Node of a growing tree, with the integer sums over its rows."""

    cells: np.ndarray
    depth: int
    state: int  # state of its random numbers
    closed: np.ndarray  # columns that it cannot use: those not drawn for the tree, and constant ones
    low: float = -math.inf
    high: float = math.inf
    spread: float = 0.0
    reason: int = flat.SPLIT
    split: Found | None = None
    threshold: float = math.nan
    children: list[int] = field(default_factory=list)
    left: np.ndarray | None = None  # integer sums over the rows that go left
    rows: int = 0
    weight: float = 0.0
    classes: int = 0  # number of classes with rows in the node
    sums: np.ndarray = field(default_factory=lambda: np.zeros(0))
