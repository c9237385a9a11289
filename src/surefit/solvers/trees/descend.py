"""Prediction with a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.flat import LEAF, MULTIWAY, THRESHOLD, FlatTree

LANES = 8  # number of rows that descend together


def apply(tree: FlatTree, X: np.ndarray) -> np.ndarray:
    """Return the node of each row of ``X`` (n, d), float64 or float32: a leaf, or an inner node if the category is unknown there."""
    if worth_packing(tree, len(X)):
        return packed_leaves(np.ascontiguousarray(X), pack(tree))
    return _apply(X, *_descent(tree))


class Packed(NamedTuple):
    """Nodes of a tree without categories, for many rows: a step is one comparison and one look-up."""

    threshold: np.ndarray  # (m,)
    feature: np.ndarray  # (m,) int32, negative at leaves
    children: np.ndarray  # (m, 3) int32: where smaller, larger and missing values go


def worth_packing(tree: FlatTree, n_rows: int) -> bool:
    """Return whether ``n_rows`` rows descend faster through the packed nodes of ``tree``, packing included."""
    return n_rows * LANES >= len(tree.kind) and int(tree.kind.max()) <= THRESHOLD


def pack(tree: FlatTree) -> Packed:
    """Return the packed nodes of a tree without categories."""
    missing = np.where(tree.missing_left, tree.left, tree.right)
    return Packed(tree.threshold, tree.feature, np.stack([tree.left, tree.right, missing], axis=1))


@compiled
def packed_leaves(X: Any, nodes: Any) -> Any:
    """Return the leaf of each row. Several rows descend together; the next row replaces a row that has reached its leaf."""
    threshold, feature, children = nodes
    n, lanes = X.shape[0], min(LANES, X.shape[0])
    found = np.empty(n, dtype=np.int64)
    at, rows, following = np.zeros(LANES, dtype=np.int64), np.arange(LANES), lanes
    while lanes > 0:
        for j in range(lanes - 1, -1, -1):
            node, row = np.uint64(at[j]), rows[j]
            if feature[node] >= 0:
                value = X[np.uint64(row), np.uint64(feature[node])]
                at[j] = children[node, np.uint64(not value <= threshold[node]) + np.uint64(value != value)]
                continue
            found[row] = at[j]
            at[j] = 0
            if following < n:
                rows[j] = following
                following += 1
            else:  # the last lane moves to this position
                lanes -= 1
                at[j], rows[j] = at[lanes], rows[lanes]
    return found


@compiled
def add_leaf_values(values: Any, leaves: Any, total: Any) -> None:
    """Add the values of the leaves to ``total`` (n, k)."""
    for i in range(len(leaves)):
        for k in range(values.shape[1]):
            total[i, k] += values[leaves[i], k]


def predict(tree: FlatTree, X: np.ndarray) -> np.ndarray:
    """Return the value (n, k) of the node of each row."""
    return tree.values[apply(tree, X)]


def add_prediction(tree: FlatTree, X: np.ndarray, out: np.ndarray, scale: float = 1.0) -> None:
    """Add ``scale`` times the first value of each row's node to ``out`` (n,), without a temporary array."""
    _add(X, *_descent(tree), np.ascontiguousarray(tree.values[:, 0]), out, float(scale))


def _descent(tree: FlatTree) -> tuple:
    goes = (tree.kind, tree.feature, tree.threshold, tree.left, tree.right, tree.missing_left)
    return (*goes, tree.start, tree.words, tree.branches, tree.n_codes)


@compiled
def _step(x, node, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes):
    """Return the child to which a row goes, or -1 if it stays at the node."""
    value = x[feature[node]]
    if kind[node] == THRESHOLD:
        if value <= threshold[node]:
            return left[node]
        if np.isnan(value) and missing_left[node]:
            return left[node]
        return right[node]
    code = np.int64(n_codes - 1) if np.isnan(value) else np.int64(value)
    if code < 0 or code >= n_codes or (code == n_codes - 1 and not np.isnan(value)):
        return np.int32(-1)
    if kind[node] == MULTIWAY:
        return branches[start[node] + code]
    n_words = (n_codes + 63) // 64
    word, bit = code // 64, np.uint64(1) << np.uint64(code % 64)
    if words[start[node] + word] & bit:
        return left[node]
    return right[node] if words[start[node] + n_words + word] & bit else np.int32(-1)


@compiled
def _apply(X, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes):
    found = np.empty(X.shape[0], dtype=np.int64)
    for i in range(X.shape[0]):
        node = np.int32(0)
        while kind[node] != LEAF:
            child = _step(
                X[i], node, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes
            )
            if child < 0:
                break
            node = child
        found[i] = node
    return found


@compiled
def _add(X, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes, values, out, scale):
    for i in range(X.shape[0]):
        node = np.int32(0)
        while kind[node] != LEAF:
            child = _step(
                X[i], node, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes
            )
            if child < 0:
                break
            node = child
        out[i] += scale * values[node]
