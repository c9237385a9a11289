"""Trees as the checker reads them: a tree is validated first, then all rows are routed.

Every child must come after its parent, so a tree with cycles is rejected and no path is longer than the list of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.judge import shared
from surefit.checks.labels import class_products, label_codes, label_table, row_weights
from surefit.checks.trees.loops import NO_COLUMN, NO_ORDER, add_up, layout, parents_of_thresholds
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.jit import compiled
from surefit.core.sample import Data
from surefit.core.storage import is_sparse

LEAF, THRESHOLD, SUBSET, MULTIWAY = 0, 1, 2, 3
TROUBLES = {
    NO_COLUMN: "The tree splits a column that does not exist.",
    NO_ORDER: "The tree is not in order: every node but the root needs one parent that comes before it.",
}
RowValues = Callable[..., Sequence[np.ndarray]]


class Nodes(NamedTuple):
    """The arrays of a tree, one entry per node, parents before children."""

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


NAMES = tuple(f"node_{name}_" for name in Nodes._fields[:-1])  # attributes of a model


class Rows(NamedTuple):
    """Training rows in the form in which the tree was grown on them."""

    X: np.ndarray  # (n, d) float64, categories as codes
    y: np.ndarray  # (n,) class codes or real targets; (n, outputs) if there are several
    w: np.ndarray  # (n,) weights, including class weights
    n_classes: Any  # 0 for real targets; one number per output if there are several
    used: np.ndarray  # rows of positive weight

    def outputs(self) -> list[tuple[Rows, slice]]:
        """Return the rows with each target separately, and its columns in a node's value."""
        if self.y.ndim == 1:
            return [(self, slice(0, max(self.n_classes, 1)))]
        counts = self.n_classes if np.ndim(self.n_classes) else [0] * self.y.shape[1]
        ends = np.cumsum([max(int(count), 1) for count in counts]).tolist()
        parts = [self._replace(y=np.ascontiguousarray(self.y[:, o]), n_classes=int(k)) for o, k in enumerate(counts)]
        return [(part, slice(a, b)) for part, a, b in zip(parts, [0, *ends[:-1]], ends, strict=True)]


class Routed(NamedTuple):
    """A validated tree with the rows of every node: node t has ``rows[first[t] : last[t]]``."""

    tree: Nodes
    sample: Rows
    parent: np.ndarray  # -1 at the root
    children: list[np.ndarray] | None  # of multiway nodes, by node; None if there are none
    depth: np.ndarray
    kept: np.ndarray  # node at which each of the routed rows ends, in the order of ``rows``
    rows: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of routed rows."""
        return len(self.rows)

    @property
    def size(self) -> np.ndarray:
        """Number of rows of each node."""
        return self.last - self.first

    @property
    def center(self) -> float:
        """A number close to the targets."""
        middle = len(self.rows) // 2
        return float(np.partition(self.sample.y[self.rows], middle)[middle]) if len(self.rows) else 0.0

    @property
    def whole(self) -> bool:
        """Whether sums of the weights are exact, as for integers."""
        return whole_weights(self.sample.w)

    def outputs(self) -> list[tuple[Routed, slice]]:
        """Return the rows with each target separately, and its columns in a node's value."""
        return [(self._replace(sample=part), columns) for part, columns in self.sample.outputs()]

    def of(self, node: int) -> np.ndarray:
        """Return the rows that reach ``node``."""
        return self.rows[self.first[node] : self.last[node]]

    def own(self, values: RowValues, *small: Any) -> np.ndarray:
        """Sum the arrays ``values(y, w, kept, *small)``, one entry per row, over the rows that end at each node."""
        found = values(self.sample.y[self.rows], self.sample.w[self.rows], self.kept, *small)
        return by_node(found, self.kept, len(self.parent))

    def at_nodes(self, values: RowValues, *small: Any) -> np.ndarray:
        """Sum the same arrays over all rows that reach each node; one line per array."""
        return added_up(self.parent, self.own(values, *small))


def by_node(values: Sequence[np.ndarray], kept: np.ndarray, count: int) -> np.ndarray:
    """Return the sums of arrays with one entry per row over the rows that end at each of ``count`` nodes."""
    return np.array([np.bincount(kept, weights=value, minlength=count) for value in values])


def added_up(parent: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Return the sums of lines with one entry per node over the subtree of each node."""
    total = np.array(lines, dtype=np.float64)
    add_up(parent, total.reshape(-1, len(parent)))
    return total


def whole_weights(w: np.ndarray) -> bool:
    """Return whether the weights are integers whose sums, and products of sums, are exact."""
    return bool((w == np.floor(w)).all()) and float(w.sum()) ** 2 < 2.0**53


def certified_nodes(certificate: Certificate) -> Nodes:
    """Return the certified tree."""
    return Nodes._make([*(certificate.model[name] for name in NAMES), int(certificate.problem["n_codes"])])


def whole_nodes(certificate: Certificate, witness: dict[str, np.ndarray]) -> Nodes:
    """Return the tree before pruning, from the witness."""
    arrays = {name: witness[f"whole_{name}"] for name in Nodes._fields[:-1]}
    return Nodes(**arrays, n_codes=int(certificate.problem["n_codes"]))


@shared
def read_rows(certificate: Certificate, data: Data) -> Rows:
    """Return the data with dense columns, categories and labels by rank, and weights times class weights."""
    X, y = coded_rows(data, certificate.problem["categorical"]), data.target
    n_classes: Any = 0
    if certificate.problem["task"] == "classification":
        y, n_classes = label_codes(certificate, data) if y.ndim == 1 else label_table(certificate, data)
        n_classes = np.asarray(n_classes).tolist()
    w = row_weights(data)
    if certificate.problem["class_weights"] is not None:
        w = w * class_products(certificate.problem["class_weights"], y, n_classes)
    return Rows(X, np.asarray(y), w, n_classes, np.flatnonzero(w > 0))


def coded_rows(data: Data, categorical: list[int]) -> np.ndarray:
    """Return the rows as a dense table, with categories by rank."""
    X = np.asarray(data.X.toarray() if is_sparse(data.X) else data.X, dtype=np.float64)
    if categorical:
        X = X.copy()
    for j in categorical:
        missing = np.isnan(X[:, j])
        X[~missing, j] = np.searchsorted(np.unique(X[~missing, j]), X[~missing, j])
    return X


def validated(tree: Nodes, d: int) -> tuple[Nodes, np.ndarray, list[np.ndarray] | None]:
    """Return the tree, each node's parent and the children of multiway nodes; raise an error if it is not a tree."""
    m = len(tree.kind)
    lists = [np.shape(tree[i]) == (m,) for i in range(7)]
    if not m or not all(lists) or np.ndim(tree.value) != 2 or len(tree.value) != m or tree.n_codes < 0:
        raise CertificateError("The arrays of the tree must have one entry per node.")
    if not np.isfinite(tree.value).all() or not ((tree.kind >= LEAF) & (tree.kind <= MULTIWAY)).all():
        raise CertificateError("The tree has a node of unknown kind, or a value that is not a number.")
    tree = Nodes._make([*map(np.ascontiguousarray, tree[:-1]), tree.n_codes])
    return tree, *parents(tree, d)


def routed(tree: Nodes, sample: Rows, rows: np.ndarray) -> Routed:
    """Validate ``tree`` and route ``rows`` through it; raise an error if the nodes do not form a tree."""
    if len(rows) and (rows.min() < 0 or rows.max() >= len(sample.X)):
        raise CertificateError("The tree was grown on rows that do not exist.")
    tree, parent, branches = validated(tree, sample.X.shape[1])
    position, size, depth = layout(parent)
    kept = route(sample.X, rows, tree)
    order = np.argsort(position[kept], kind="stable")
    at = position[kept[order]]
    first, last = np.searchsorted(at, position), np.searchsorted(at, position + size)
    return Routed(tree, sample, parent, branches, depth, kept[order], rows[order], first, last)


def trained(tree: Nodes, sample: Rows, rows: np.ndarray) -> Routed:
    """Route the training rows; raise an error if a node has none of them."""
    shape = routed(tree, sample, rows)
    if np.any(shape.last == shape.first):
        raise CertificateError(f"Node {int(np.argmin(shape.last - shape.first))} of the tree has no training rows.")
    return shape


def children_of(shape: Any, node: int) -> np.ndarray:
    """Return the children of a node, each once."""
    if shape.tree.kind[node] == LEAF:
        return np.empty(0, dtype=np.int64)
    if shape.tree.kind[node] == MULTIWAY:
        assert shape.children is not None
        return shape.children[node]
    return np.array([shape.tree.left[node], shape.tree.right[node]], dtype=np.int64)


def parents(tree: Nodes, d: int) -> tuple[np.ndarray, list[np.ndarray] | None]:
    """Return the parent of each node, and the children of multiway nodes; raise an error if it is not a tree."""
    m = len(tree.kind)
    if ((tree.kind == LEAF) | (tree.kind == THRESHOLD)).all():
        found, trouble = parents_of_thresholds(tree.kind != LEAF, tree.feature, tree.left, tree.right, d)
        if trouble:
            raise CertificateError(TROUBLES[trouble])
        return found, None
    inner, two = np.flatnonzero(tree.kind != LEAF), np.flatnonzero((tree.kind == THRESHOLD) | (tree.kind == SUBSET))
    if np.any((tree.feature[inner] < 0) | (tree.feature[inner] >= d)):
        raise CertificateError(TROUBLES[NO_COLUMN])
    width = np.where(tree.kind == MULTIWAY, tree.n_codes, 2 * ((tree.n_codes + 63) // 64))
    coded = np.flatnonzero(tree.kind >= SUBSET)
    space = np.where(tree.kind == MULTIWAY, len(tree.branches), len(tree.words))
    if np.any((tree.start[coded] < 0) | (tree.start[coded].astype(np.int64) + width[coded] > space[coded])):
        raise CertificateError("The categories of a split are not stored.")
    pairs = [(two, tree.left[two]), (two, tree.right[two])]
    children: list[np.ndarray] | None = None
    many = np.flatnonzero(tree.kind == MULTIWAY)
    if len(many):
        children = [np.empty(0, dtype=np.int64)] * m
        for t in many:
            table = tree.branches[tree.start[t] : tree.start[t] + tree.n_codes]
            children[t] = np.unique(table[table >= 0]).astype(np.int64)
            pairs.append((np.full(len(children[t]), t), children[t]))
    above = np.concatenate([part for part, _ in pairs]).astype(np.int64)
    below = np.concatenate([part for _, part in pairs]).astype(np.int64)
    if np.any((below <= above) | (below >= m)) or len(below) != m - 1 or len(np.unique(below)) != m - 1:
        raise CertificateError(TROUBLES[NO_ORDER])
    parent = np.full(m, -1, dtype=np.int64)
    parent[below] = above
    return parent, children


@compiled
def route(X: Any, rows: Any, tree: Nodes) -> np.ndarray:
    """Return the node at which each of ``rows`` ends: a leaf, or a node with an unknown category."""
    kind, feature, threshold, left, right, missing_left, start, words, branches, _, n_codes = tree
    found = np.empty(len(rows), dtype=np.int64)
    n_words = (n_codes + 63) // 64
    for i in range(len(rows)):
        node = 0
        while kind[node] != LEAF:
            x = X[rows[i], feature[node]]
            missing = x != x
            child = -1  # a row with an unknown category stops there
            if kind[node] == THRESHOLD:
                child = left[node] if x <= threshold[node] or (missing and missing_left[node]) else right[node]
            elif missing or 0 <= x < n_codes - 1:
                code = n_codes - 1 if missing else int(x)
                if kind[node] == MULTIWAY:
                    child = branches[start[node] + code]
                else:
                    bit = np.uint64(1) << np.uint64(code % 64)
                    if words[start[node] + code // 64] & bit:
                        child = left[node]
                    elif words[start[node] + n_words + code // 64] & bit:
                        child = right[node]
            if child < 0:
                break
            node = child
        found[i] = node
    return found
