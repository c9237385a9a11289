"""Trees of an ensemble in common arrays: validated once, then used by compiled routing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.trees.nodes import LEAF, SUBSET, THRESHOLD, Nodes, parents
from surefit.core.jit import compiled

BLOCK = 256  # number of rows that descend together


class PackedTree(NamedTuple):
    """The nodes of one tree; ``feature`` is negative at leaves."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray  # (nodes, values)


def slices(model: dict[str, np.ndarray], d: int, names: tuple[str, ...]) -> list[slice]:
    """Validate the arrays ``tree_<name>_`` and return a slice of nodes per tree; parents must precede children."""
    starts = np.asarray(model["tree_starts_"])
    m = len(model["tree_feature_"])
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) < 1 or starts[0] != 0 or starts[-1] != m:
        raise ValueError("the trees do not cover the list of nodes")
    starts = starts.astype(np.int64)
    if np.any(np.diff(starts) < 1) or any(len(model[f"tree_{name}_"]) != m for name in names):
        raise ValueError("the arrays of the trees must have one entry per node")
    feature, left, right = (np.asarray(model[f"tree_{name}_"]) for name in ("feature", "left", "right"))
    if any(part.dtype.kind not in "iu" or part.ndim != 1 for part in (feature, left, right)):
        raise ValueError("columns and children of the trees must be integers")
    if not _in_order(starts, feature, left, right):
        raise ValueError("a tree is not in order: a child must come after its parent")
    if np.any(feature >= d) or not np.all(np.isfinite(model["tree_value_"])):
        raise ValueError("a tree cuts a column that does not exist, or has a value that is not a number")
    return [slice(int(a), int(b)) for a, b in pairwise(starts)]


@compiled
def _in_order(starts: Any, feature: Any, left: Any, right: Any) -> bool:
    """Return whether all children come after their parents, and before the end of their tree."""
    for t in range(len(starts) - 1):
        size = starts[t + 1] - starts[t]
        for node in range(size):
            at = starts[t] + node
            if feature[at] >= 0 and not (node < left[at] < size and node < right[at] < size):
                return False
    return True


def packed_trees(model: dict[str, np.ndarray], d: int) -> list[PackedTree]:
    """Return the trees of an ensemble."""
    arrays = {name: np.ascontiguousarray(model[f"tree_{name}_"]) for name in PackedTree._fields}
    if arrays["value"].ndim != 2:
        raise ValueError("the values of the trees must be a table")
    return [PackedTree(**{k: v[part] for k, v in arrays.items()}) for part in slices(model, d, PackedTree._fields)]


def categorical_trees(model: dict[str, np.ndarray], trees: list[PackedTree]) -> list[Nodes]:
    """Return the trees of an ensemble with their sets of categories, validated."""
    starts, words, n_codes = model["tree_starts_"], np.ascontiguousarray(model["tree_words_"]), model["tree_n_codes_"]
    kind, first = np.asarray(model["tree_kind_"]), np.asarray(model["tree_set_start_"])
    if len(kind) != starts[-1] or len(first) != starts[-1] or len(n_codes) != len(trees) or words.dtype != np.uint64:
        raise ValueError("the sets of categories must have one entry per node")
    if np.any(~np.isin(kind, (LEAF, THRESHOLD, SUBSET))) or np.any((kind == LEAF) != (model["tree_feature_"] < 0)):
        raise ValueError("a node must be a leaf, a threshold or a set of categories")
    found = []
    for tree, (a, b), codes in zip(trees, pairwise(starts), n_codes, strict=True):
        nodes = Nodes(kind[a:b], *tree[:-1], first[a:b], words, np.empty(0, dtype=np.int32), tree.value, int(codes))
        parents(nodes, int(np.max(tree.feature, initial=0)) + 1)
        found.append(nodes)
    return found


def on_paths(leaf: np.ndarray, rows: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every node on the paths of the rows, each with its row."""
    nodes, passed = [leaf], [rows]
    while len(nodes[-1]):
        above = parent[nodes[-1]]
        passed.append(passed[-1][above >= 0])
        nodes.append(above[above >= 0])
    return np.concatenate(nodes), np.concatenate(passed)


@compiled
def leaves_of(X: Any, rows: Any, tree: PackedTree) -> np.ndarray:
    """Return the leaf of each of ``rows``; the rows of a block descend together, one level at a time."""
    feature, threshold, left, right, missing_left, _ = tree
    found = np.zeros(len(rows), dtype=np.int64)
    if feature[0] < 0:
        return found
    inside = np.empty(BLOCK, dtype=np.int64)  # places of the rows that are not at a leaf
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        for k in range(count):
            inside[k] = start + k
        while count > 0:
            kept = 0
            for k in range(count):  # no unpredictable branches: a child is chosen by arithmetic
                i = inside[k]
                node = np.uint64(found[i])
                x = X[np.uint64(rows[i]), np.uint64(feature[node])]
                one, other = np.int64(left[node]), np.int64(right[node])
                goes_left = np.int64((x <= threshold[node]) | ((x != x) & (missing_left[node] != 0)))
                child = other + (one - other) * goes_left
                found[i] = child
                inside[kept] = i
                kept += feature[np.uint64(child)] >= 0
            count = kept
    return found
