"""Prediction with a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.flat import LEAF, MULTIWAY, THRESHOLD, FlatTree

LANES = 8  # rows that descend side by side


def apply(tree: FlatTree, X: np.ndarray) -> np.ndarray:
    """Return the node of each row of ``X`` (n, d), float64 or float32: a leaf, or an inner node if a category is new."""
    if worth_packing(tree, len(X)):
        return packed_leaves(np.ascontiguousarray(X), pack(tree))
    return _apply(X, *_descent(tree))


class Packed(NamedTuple):
    """Nodes of a tree without categories, for many rows: a step is one comparison and one look-up. Leaves lead to themselves."""

    threshold: np.ndarray  # (m,)
    feature: np.ndarray  # (m,) int32, 0 at leaves
    children: np.ndarray  # (m, 3) int32: where smaller, larger and missing values go


def worth_packing(tree: FlatTree, n_rows: int) -> bool:
    """Return whether ``n_rows`` rows descend faster through the packed nodes of ``tree``, packing included."""
    return n_rows * LANES >= len(tree.kind) and int(tree.kind.max()) <= THRESHOLD


def pack(tree: FlatTree) -> Packed:
    """Return the packed nodes of a tree without categories."""
    leaf, itself = tree.kind == LEAF, np.arange(len(tree.kind), dtype=np.int32)
    left, right = np.where(leaf, itself, tree.left), np.where(leaf, itself, tree.right)
    missing = np.where(tree.missing_left, left, right)
    return Packed(tree.threshold, np.maximum(tree.feature, np.int32(0)), np.stack([left, right, missing], axis=1))


@compiled
def packed_leaves(X: Any, nodes: Any) -> Any:
    """Return the leaf of each row. Several rows descend side by side: none waits for the memory that another reads."""
    threshold, feature, children = nodes
    n = X.shape[0]
    found = np.empty(n, dtype=np.int64)
    at = np.empty(LANES, dtype=np.int64)
    for start in range(0, n, LANES):
        at[:] = 0
        moving = True
        while moving:
            moving = False
            for j in range(LANES):
                node = np.uint64(at[j])
                value = X[np.uint64(min(start + j, n - 1)), np.uint64(feature[node])]
                child = children[node, np.uint64(not value <= threshold[node]) + np.uint64(value != value)]
                moving |= child != at[j]
                at[j] = child
        for j in range(min(LANES, n - start)):
            found[start + j] = at[j]
    return found


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
