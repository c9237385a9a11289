"""Sending rows down a tree."""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.flat import LEAF, MULTIWAY, THRESHOLD, FlatTree


def apply(tree: FlatTree, X: np.ndarray) -> np.ndarray:
    """Return the node that keeps each row of ``X`` (n, d), float64 or float32: a leaf, or where a category is new an inner node."""
    return _apply(X, *_descent(tree))


def predict(tree: FlatTree, X: np.ndarray) -> np.ndarray:
    """Return the value (n, k) of the node that keeps each row."""
    return tree.value[apply(tree, X)]


def add_prediction(tree: FlatTree, X: np.ndarray, out: np.ndarray, scale: float = 1.0) -> None:
    """Add ``scale`` times the first value of each row's node to ``out`` (n,), without a temporary array."""
    _add(X, *_descent(tree), np.ascontiguousarray(tree.value[:, 0]), out, float(scale))


def _descent(tree: FlatTree) -> tuple:
    goes = (tree.kind, tree.feature, tree.threshold, tree.left, tree.right, tree.missing_left)
    return (*goes, tree.start, tree.words, tree.branches, tree.n_codes)


@compiled
def _step(x, node, kind, feature, threshold, left, right, missing_left, start, words, branches, n_codes):
    """Return the child to which a row goes, or -1 if the node keeps it."""
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
