"""Fitted tree as flat arrays, one entry per node, in preorder (parents before children)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled

LEAF, THRESHOLD, SUBSET, MULTIWAY = 0, 1, 2, 3
UNDEFINED = -2  # column and threshold of a leaf, as in scikit-learn

#: Reasons why a node is a leaf, by their code in ``FlatTree.reason``; inner nodes have code 0.
REASONS = (
    "split",
    "pure",
    "max_depth",
    "min_samples_split",
    "no admissible cut",
    "gain too small",
    "max_leaf_nodes",
    "pruned",
    "growing was stopped",
)
SPLIT, PURE, DEPTH, FEW_ROWS, NO_CUT, SMALL_GAIN, LEAVES, PRUNED, STOPPED = range(9)


class FlatTree(NamedTuple):
    """Tree with ``m`` nodes; node 0 is the root, and a subtree is a consecutive range of nodes (preorder).

    A node of kind ``THRESHOLD`` sends ``x[feature] <= threshold`` to ``left``, the rest to ``right``, and a missing
    value to ``left`` if ``missing_left``. Categories are ``0 .. n_codes - 2``, and missing is the category
    ``n_codes - 1``. A node of kind ``SUBSET`` sends category ``c`` to ``left`` if bit ``c`` of
    ``words[start : start + n_words]`` is set, to ``right`` if it is set in the next ``n_words`` words, with
    ``n_words = ceil(n_codes / 64)``. A node of kind ``MULTIWAY`` sends it to ``branches[start + c]``. A row with a
    category that did not occur at a node in training (neither bit, or branch -1) stays at that node and gets its value.
    """

    kind: np.ndarray  # (m,) int8
    feature: np.ndarray  # (m,) int32, -2 at leaves
    threshold: np.ndarray  # (m,) float64, -2 at leaves, nan at SUBSET and MULTIWAY nodes
    left: np.ndarray  # (m,) int32, -1 at leaves; the first child of a MULTIWAY node
    right: np.ndarray  # (m,) int32, -1 at leaves; the last child of a MULTIWAY node
    missing_left: np.ndarray  # (m,) bool
    start: np.ndarray  # (m,) int32, into ``words`` or ``branches``
    words: np.ndarray  # (.,) uint64, category sets
    branches: np.ndarray  # (.,) int32, children of multiway nodes
    values: np.ndarray  # (m, k) float64: mean or median (k = 1), or class shares
    impurity: np.ndarray  # (m,) float64, per unit of weight
    gain: np.ndarray  # (m,) float64: impurity minus the mean impurity of the children, 0 at leaves
    weight: np.ndarray  # (m,) float64
    n_rows: np.ndarray  # (m,) int64
    depth: np.ndarray  # (m,) int32, 0 at the root
    reason: np.ndarray  # (m,) int8, see REASONS
    end: np.ndarray  # (m,) int32: the subtree of node t is t .. end[t] - 1
    n_codes: int  # largest number of categories of a column, plus one for missing values
    widths: tuple[int, ...] = ()  # columns of ``values`` of each output; empty for one output

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.kind)

    @property
    def max_depth(self) -> int:
        """Length of the longest path from the root."""
        return int(self.depth.max())

    @property
    def children_left(self) -> np.ndarray:
        """``left``, under scikit-learn's name."""
        return self.left

    @property
    def children_right(self) -> np.ndarray:
        """``right``, under scikit-learn's name."""
        return self.right

    @property
    def value(self) -> np.ndarray:
        """``values`` in scikit-learn's layout, (nodes, outputs, classes); outputs with fewer classes are padded with zeros."""
        if not self.widths:
            return self.values[:, None, :]
        padded = np.zeros((len(self.values), self.n_outputs, self.max_n_classes))
        for o, part in enumerate(self.by_output(self.values)):
            padded[:, o, : part.shape[1]] = part
        return padded

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return max(len(self.widths), 1)

    @property
    def n_classes(self) -> np.ndarray:
        """Number of classes of each target; 1 for a real target."""
        return np.array(self.widths or [self.values.shape[1]])

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of a target."""
        return int(self.n_classes.max())

    def by_output(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the columns of ``values`` that belong to each output."""
        return np.split(values, np.cumsum(self.widths)[:-1], axis=1) if self.widths else [values]

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """``missing_left``, under scikit-learn's name."""
        return self.missing_left.astype(np.uint8)

    @property
    def n_node_samples(self) -> np.ndarray:
        """``n_rows``, under scikit-learn's name."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """``weight``, under scikit-learn's name."""
        return self.weight

    def apply(self, X: Any) -> np.ndarray:
        """Return the node of each row of a dense or sparse matrix, as scikit-learn's ``tree_``; categories are codes."""
        from surefit.solvers.trees.descend import apply

        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        return np.asarray(apply(self, dense if dense.dtype == np.float32 else dense.astype(np.float64)), dtype=np.int64)

    def predict(self, X: Any) -> np.ndarray:
        """Return ``value`` at the node of each row, (rows, classes) or (rows, outputs, classes)."""
        found = self.value[self.apply(X)]
        return found[:, 0] if self.n_outputs == 1 else found

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return the nodes on the path of each row of a matrix, as a 0-1 matrix of shape (n, n_nodes)."""
        return self.paths(self.apply(X))

    def paths(self, node: np.ndarray) -> sparse.csr_matrix:
        """Return the nodes on the paths from the root to the given nodes, as a 0-1 matrix of shape (n, n_nodes)."""
        from surefit.solvers.trees.pruning import parents_of

        n, parent = len(node), parents_of(self.end)
        rows, columns, row = [], [], np.arange(n)
        while len(node):
            rows.append(row)
            columns.append(node)
            node = parent[node]
            row, node = row[node >= 0], node[node >= 0]
        places = np.concatenate(rows), np.concatenate(columns)
        ones = np.ones(len(places[0]), dtype=np.int64)
        return sparse.csr_matrix((ones, places), shape=(n, self.node_count))

    def children(self, node: int) -> np.ndarray:
        """Return the children of ``node`` from left to right; empty for a leaf."""
        found, child = [], node + 1
        while self.kind[node] != LEAF and child < self.end[node]:
            found.append(child)
            child = int(self.end[child])
        return np.array(found, dtype=np.int64)

    def category_sets(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the categories that a SUBSET node sends left, and right."""
        first, size = int(self.start[node]), (self.n_codes + 63) // 64
        return bits_of(self.words[first : first + size]), bits_of(self.words[first + size : first + 2 * size])


def bits_of(words: np.ndarray) -> np.ndarray:
    """Return the positions of the set bits."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little"))


def collapse(tree: FlatTree, leaves: np.ndarray) -> FlatTree:
    """Return the tree in which every node marked in ``leaves`` (m bools) is a leaf; nodes below it are dropped."""
    keep = _kept(tree.kind, tree.end, leaves)
    return take(tree, np.flatnonzero(keep), leaves)


def take(tree: FlatTree, old: np.ndarray, leaves: np.ndarray) -> FlatTree:
    """Return the nodes ``old`` (in preorder) as a separate tree; those marked in ``leaves`` become leaves."""
    new = np.full(len(tree.kind), -1, dtype=np.int32)
    new[old] = np.arange(len(old), dtype=np.int32)
    cut = leaves[old] & (tree.kind[old] != LEAF)
    kind = np.where(cut, LEAF, tree.kind[old]).astype(np.int8)
    leaf = kind == LEAF
    branches = np.where(tree.branches >= 0, new[tree.branches], -1).astype(np.int32)
    following = _next_kept(new, len(old))
    return FlatTree(
        kind,
        np.where(leaf, UNDEFINED, tree.feature[old]).astype(np.int32),
        np.where(leaf, UNDEFINED, tree.threshold[old]),
        np.where(leaf, -1, new[tree.left[old]]).astype(np.int32),
        np.where(leaf, -1, new[tree.right[old]]).astype(np.int32),
        tree.missing_left[old] & ~leaf,
        np.where(leaf, -1, tree.start[old]).astype(np.int32),
        tree.words,
        branches,
        tree.values[old],
        tree.impurity[old],
        np.where(leaf, 0.0, tree.gain[old]),
        tree.weight[old],
        tree.n_rows[old],
        tree.depth[old],
        np.where(cut, PRUNED, tree.reason[old]).astype(np.int8),
        following[tree.end[old]],
        tree.n_codes,
        tree.widths,
    )


@compiled
def _kept(kind, end, leaves):
    keep = np.zeros(len(kind), dtype=np.bool_)
    node = 0
    while node < len(kind):
        keep[node] = True
        node = end[node] if leaves[node] else node + 1
    return keep


@compiled
def _next_kept(new, count):
    """Return the new position of the first kept node at or after each old node."""
    following = np.empty(len(new) + 1, dtype=np.int32)
    following[len(new)] = count
    for node in range(len(new) - 1, -1, -1):
        following[node] = new[node] if new[node] >= 0 else following[node + 1]
    return following


@compiled
def ends(left, right):
    """Return the end of each subtree: nodes are in preorder, so the right child comes last."""
    end = np.empty(len(left), dtype=np.int32)
    for node in range(len(left) - 1, -1, -1):
        end[node] = end[right[node]] if right[node] >= 0 else node + 1
    return end
