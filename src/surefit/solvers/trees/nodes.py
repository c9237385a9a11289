"""Nodes of a growing tree, its rules, and the finished tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees import flat
from surefit.solvers.trees.flat import FlatTree


class Rules(NamedTuple):
    """Stopping rules and the choice of columns."""

    max_depth: int = 2**31 - 1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0  # absolute, not a fraction
    max_leaf_nodes: int = 0  # 0: no limit; otherwise the node with the largest total decrease is split first
    min_impurity_decrease: float = 0.0  # total decrease divided by the weight of all rows
    min_gain: float = 0.0  # decrease divided by the weight of the node
    max_features: int = 2**31 - 1  # columns per node, drawn without replacement
    random_cuts: bool = False  # one random cut per column, as in extremely randomized trees
    multiway: bool = False  # one branch per category
    seed: int = 0


#: Node of a growing tree: as in ``FlatTree``, with the range of rows; the children of a node are adjacent.
NODE = np.dtype(
    [
        ("threshold", np.float64),
        ("spread", np.float64),  # total impurity
        ("decrease", np.float64),  # of the total, by the best cut
        ("weight", np.float64),
        ("low", np.float64),  # limits of the value
        ("high", np.float64),
        ("feature", np.int64),
        ("left", np.int64),
        ("right", np.int64),
        ("start", np.int64),
        ("depth", np.int64),
        ("place", np.int64),  # of the best cut
        ("order", np.int64),  # of categories
        ("first", np.int64),  # range of rows
        ("last", np.int64),
        ("kind", np.int8),
        ("reason", np.int8),
        ("missing_left", np.bool_),
    ],
    align=True,
)


def allocated(rows: int, rules: Rules, depth: int, width: int) -> tuple[np.recarray, np.ndarray]:
    """Return memory for the nodes of a subtree whose root has the given depth, and for ``width`` sums each."""
    room = 2 * rows - 1
    if rules.max_depth - depth < 31 and not rules.multiway:
        room = min(room, 2 ** (max(rules.max_depth - depth, 0) + 1) - 1)
    if rules.max_leaf_nodes > 0 and not rules.multiway:
        room = min(room, 2 * rules.max_leaf_nodes - 1)
    return np.recarray(room, dtype=NODE), np.empty((room, width))


def finished(nodes: Any, sums: np.ndarray, words, branches, n_codes: int) -> FlatTree:
    """Convert the nodes to a tree in preorder."""
    old, end = _preorder(nodes["left"], nodes["right"])
    new = np.empty(len(nodes) + 1, dtype=np.int32)
    new[old] = np.arange(len(nodes))
    new[-1] = -1  # a leaf's child
    nodes = nodes[old]
    kind = nodes["kind"].copy()
    inner = kind != flat.LEAF
    weight = nodes["weight"].copy()
    threshold = np.where(kind == flat.THRESHOLD, nodes["threshold"], np.nan)
    return FlatTree(
        kind,
        np.where(inner, nodes["feature"], flat.UNDEFINED).astype(np.int32),
        np.where(inner, threshold, flat.UNDEFINED),
        new[nodes["left"]],
        new[nodes["right"]],
        nodes["missing_left"] & inner,
        np.where(inner & (kind != flat.THRESHOLD), nodes["start"], -1).astype(np.int32),
        words,
        np.where(branches >= 0, new[branches], np.int32(-1)),
        np.minimum(np.maximum(sums[old] / weight[:, None], nodes["low"][:, None]), nodes["high"][:, None]),
        nodes["spread"] / weight,
        np.where(inner, nodes["decrease"] / weight, 0.0),
        weight,
        nodes["last"] - nodes["first"],
        nodes["depth"].astype(np.int32),
        nodes["reason"].copy(),
        end,
        n_codes,
    )


@compiled
def _preorder(left, right):
    count = len(left)
    old, end = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    stack, place = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)  # a node is on the stack once
    stack[0], top, visited = 0, 1, 0
    while top > 0:
        top -= 1
        node = stack[top]
        if node < 0:  # all descendants have been numbered
            end[place[-node - 1]] = visited
            continue
        old[visited], place[node] = node, visited
        visited += 1
        if left[node] < 0:
            end[visited - 1] = visited
            continue
        stack[top] = -node - 1
        top += 1
        for child in range(right[node], left[node] - 1, -1):
            stack[top] = child
            top += 1
    return old, end
