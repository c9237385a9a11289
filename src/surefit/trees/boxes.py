"""Leaves of a tree as boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.solvers.trees import FlatTree
from surefit.solvers.trees.flat import LEAF, THRESHOLD


class LeafBoxes(NamedTuple):
    """One box per leaf, ``lower < x <= upper`` in each column; the boxes partition the space."""

    leaf: np.ndarray  # (k,) node numbers
    lower: np.ndarray  # (k, d)
    upper: np.ndarray  # (k, d)

    def find(self, X) -> np.ndarray:
        """Return the leaf whose box contains each row of ``X`` (without missing values), by testing all boxes."""
        X = np.asarray(X, dtype=np.float64)
        inside = (self.lower[None] < X[:, None]) & (X[:, None] <= self.upper[None])
        return self.leaf[inside.all(axis=2).argmax(axis=1)]


def leaf_boxes(tree: FlatTree, d: int) -> LeafBoxes:
    """Return the boxes of all leaves; categorical columns are unbounded."""
    m = len(tree.kind)
    lower, upper = np.full((m, d), -np.inf), np.full((m, d), np.inf)
    for t in range(m):
        for k, child in enumerate(tree.children(t)):
            lower[child], upper[child] = lower[t], upper[t]
            if tree.kind[t] == THRESHOLD:
                j = tree.feature[t]
                if k == 0:
                    upper[child, j] = min(upper[child, j], tree.threshold[t])
                else:
                    lower[child, j] = max(lower[child, j], tree.threshold[t])
    leaf = np.flatnonzero(tree.kind == LEAF)
    return LeafBoxes(leaf, lower[leaf], upper[leaf])
