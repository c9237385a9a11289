"""Trees as the checker reads them: rows are sent down again, node by node, by the definition of each split."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError

LEAF, THRESHOLD, SUBSET, MULTIWAY = 0, 1, 2, 3


class Nodes(NamedTuple):
    """The arrays of a tree, one entry a node, parents before children."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    start: np.ndarray
    words: np.ndarray
    branches: np.ndarray
    value: np.ndarray
    n_codes: int


class Rows(NamedTuple):
    """Training rows as the tree was grown on them."""

    X: np.ndarray  # (n, d) float64, categories as codes
    y: np.ndarray  # (n,) class codes or real targets
    w: np.ndarray  # (n,) weights, with those of the classes
    n_classes: int
    used: np.ndarray  # rows of positive weight


def certified_nodes(certificate: Certificate) -> Nodes:
    """Return the certified tree."""
    arrays = {name: certificate.model[f"node_{name}_"] for name in Nodes._fields[:-1]}
    return Nodes(**arrays, n_codes=certificate.problem["n_codes"])


def whole_nodes(witness: dict[str, np.ndarray], n_codes: int) -> Nodes:
    """Return the tree before pruning, from the witness."""
    return Nodes(**{name: witness[f"whole_{name}"] for name in Nodes._fields[:-1]}, n_codes=int(n_codes))


def read_rows(certificate: Certificate, data: Data) -> Rows:
    """Read the data: dense columns, categories by rank, labels by rank, weights times class weights."""
    if "tree rows" in data.memo:
        return data.memo["tree rows"]
    X = np.array(data.X.toarray() if sparse.issparse(data.X) else data.X, dtype=np.float64)
    for j in certificate.problem["categorical"]:
        known, missing = np.unique(X[~np.isnan(X[:, j]), j]), np.isnan(X[:, j])
        X[~missing, j] = np.searchsorted(known, X[~missing, j])
    y: Any = data.target
    n_classes = 0
    if certificate.problem["task"] == "classification":
        labels, y = np.unique(y, return_inverse=True)
        n_classes = len(labels)
    w = np.ones(len(X)) if data.weights is None else data.weights
    if certificate.problem["class_weights"] is not None:
        w = w * np.asarray(certificate.problem["class_weights"])[y]
    rows = Rows(X, np.asarray(y), w, n_classes, np.flatnonzero(w > 0))
    data.memo["tree rows"] = rows
    return rows


def children_of(tree: Nodes, node: int) -> list[int]:
    """Children of a node, each once."""
    if tree.kind[node] == LEAF:
        return []
    if tree.kind[node] == MULTIWAY:
        table = tree.branches[tree.start[node] : tree.start[node] + tree.n_codes]
        return sorted({int(c) for c in table if c >= 0})
    return [int(tree.left[node]), int(tree.right[node])]


def destinations(tree: Nodes, node: int, column: np.ndarray) -> np.ndarray:
    """Return the child to which each value goes, -1 where the node keeps it."""
    missing = np.isnan(column)
    if tree.kind[node] == THRESHOLD:
        with np.errstate(invalid="ignore"):
            left = (column <= tree.threshold[node]) | (missing & bool(tree.missing_left[node]))
        return np.where(left, tree.left[node], tree.right[node])
    code = np.where(missing, tree.n_codes - 1, np.nan_to_num(column)).astype(np.int64)
    known = (code >= 0) & (missing | (code < tree.n_codes - 1)) & (code < tree.n_codes)
    code = np.where(known, code, 0)
    start = int(tree.start[node])
    if tree.kind[node] == MULTIWAY:
        return np.where(known, tree.branches[start + code], -1)
    size = (tree.n_codes + 63) // 64
    bit = (code % 64).astype(np.uint64)
    in_left = (tree.words[start + code // 64] >> bit) & np.uint64(1) == 1
    in_right = (tree.words[start + size + code // 64] >> bit) & np.uint64(1) == 1
    return np.where(known & in_left, tree.left[node], np.where(known & in_right, tree.right[node], -1))


def members(tree: Nodes, X: np.ndarray, rows: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the rows that reach each node, and the node that keeps each of ``rows``."""
    m = len(tree.kind)
    reach: list[np.ndarray] = [np.empty(0, dtype=np.int64)] * m
    kept = np.full(len(X), -1, dtype=np.int64)
    reach[0] = rows
    for node in range(m):
        mine = reach[node]
        kept[mine] = node
        if tree.kind[node] == LEAF:
            continue
        if any(child <= node or child >= m for child in children_of(tree, node)):
            raise CertificateError(f"The tree is not in order: node {node} has a child that does not come after it.")
        goes = destinations(tree, node, X[mine, tree.feature[node]])
        for child in children_of(tree, node):
            reach[child] = mine[goes == child]
    return reach, kept[rows]


def grown_rows(rows: Rows, witness: dict[str, np.ndarray]) -> np.ndarray:
    """Return the rows on which the tree was grown."""
    return np.intersect1d(witness["rows"], rows.used) if "rows" in witness else rows.used


def tree_members(
    certificate: Certificate, data: Data, witness: dict[str, np.ndarray]
) -> tuple[Nodes, Rows, list[np.ndarray]]:
    """Return the certified tree, the rows, and who reaches which node."""
    tree, rows = certified_nodes(certificate), read_rows(certificate, data)
    key = "tree members of all rows" if "rows" not in witness else "tree members"
    if key not in data.memo:
        data.memo[key] = members(tree, rows.X, grown_rows(rows, witness))[0]
    return tree, rows, data.memo[key]
