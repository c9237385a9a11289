"""Compiled loops over the nodes of a tree: parents, order and sums over subtrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled

NO_COLUMN, NO_ORDER = 1, 2  # defects of a tree


@compiled
def parents_of_thresholds(inner: Any, feature: Any, left: Any, right: Any, d: Any) -> tuple[Any, Any]:
    """Return the parent of each node of a tree without categories, and the number of its defect, or zero.

    ``inner`` marks the nodes that are not leaves, ``d`` is the number of columns.
    """
    m, count = len(inner), 0
    parent = np.empty(m, dtype=np.int64)
    for t in range(m):
        parent[t] = -1
        if inner[t] and not 0 <= feature[t] < d:
            return parent, NO_COLUMN
    for t in range(m):
        for child in (left[t], right[t]):
            if inner[t]:
                if not t < child < m or parent[child] >= 0:
                    return parent, NO_ORDER
                parent[child] = t
                count += 1
    return parent, 0 if count == m - 1 else NO_ORDER


@compiled
def layout(parent: Any) -> tuple[Any, Any, Any]:
    """Return the position of each node in preorder, the size of its subtree, and its depth."""
    m = len(parent)
    size, position, depth = np.ones(m, dtype=np.int64), np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for t in range(m - 1, 0, -1):
        size[parent[t]] += size[t]
    free = np.ones(m, dtype=np.int64)
    for t in range(1, m):
        above = parent[t]
        position[t] = free[above]
        free[above] += size[t]
        free[t] = position[t] + 1
        depth[t] = depth[above] + 1
    return position, size, depth


@compiled
def add_up(parent: Any, lines: Any) -> None:
    """Add to each node the entries of its descendants, in every line."""
    for k in range(len(lines)):
        for t in range(len(parent) - 1, 0, -1):
            lines[k, parent[t]] += lines[k, t]
