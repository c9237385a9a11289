"""A tree whose rows are in partitions: every sum over the rows of its nodes is one pass over the partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.judge import shared
from surefit.checks.labels import label_codes
from surefit.checks.trees.loops import layout
from surefit.checks.trees.nodes import (
    Nodes,
    Routed,
    Rows,
    RowValues,
    added_up,
    by_node,
    route,
    validated,
    whole_weights,
)
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.partitioned import Part, PartitionedRows, by_blocks, over_rows, weights_in
from surefit.core.sample import Data, read_target


class Reading(NamedTuple):
    """Rules by which a partition reads its rows."""

    classes: np.ndarray | None
    factors: np.ndarray | None  # weights of the classes

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    def rows(self, part: Part) -> Rows:
        """Return the rows of a partition in the form in which the tree was grown on them."""
        assert part.y is not None
        X, y, w = np.asarray(part.X, dtype=np.float64), read_target(part.y), weights_in(part)
        if self.classes is not None:
            codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
            if not np.array_equal(self.classes[codes], y):
                raise CertificateError(f"{part.name} has a label that is not among the classes.")
            y = codes.astype(np.int64)
            w = w if self.factors is None else w * self.factors[y]
        return Rows(X, y, w, self.n_classes, np.flatnonzero(w > 0))


class Spread(NamedTuple):
    """A validated tree with the number of rows of every node; the rows are in partitions."""

    tree: Nodes
    parent: np.ndarray
    depth: np.ndarray
    size: np.ndarray
    whole: bool  # whether sums of the weights are exact
    data: PartitionedRows
    reading: Reading

    @property
    def children(self) -> None:
        """None, because trees with multiway splits are not supported."""
        return

    @property
    def n_rows(self) -> int:
        """Number of routed rows."""
        return int(self.size[0])

    @property
    def center(self) -> float:
        """A number close to the targets: the median of some rows."""
        return float(np.median(self.data.sample[:, self.data.shape[1]]))

    @property
    def sample(self) -> Rows:
        """An empty sample with the columns and classes."""
        nothing = np.zeros(0)
        return Rows(np.zeros((0, self.data.shape[1])), nothing, nothing, self.reading.n_classes, nothing)

    def outputs(self) -> list[tuple[Spread, slice]]:
        """Return the single target, and its columns in a node's value."""
        return [(self, slice(0, max(self.reading.n_classes, 1)))]

    def own(self, values: RowValues, *small: Any) -> np.ndarray:
        """Sum the arrays ``values(y, w, kept, *small)``, one entry per row, over the rows that end at each node."""
        return self.data.map_reduce(_own, self.tree, self.reading, values, small)

    def at_nodes(self, values: RowValues, *small: Any) -> np.ndarray:
        """Sum the same arrays over all rows that reach each node; one line per array."""
        return added_up(self.parent, self.own(values, *small))


Shape = Routed | Spread


@shared
def reading_of(certificate: Certificate, data: Data) -> Reading:
    """Return how partitions read their rows; raise an error if the classes are not the labels."""
    problem = certificate.problem
    if problem["categorical"]:
        raise CertificateError("Categorical columns of a tree are verified with the rows in memory only.")
    if problem["task"] != "classification":
        return Reading(None, None)
    label_codes(certificate, data)
    factors = problem["class_weights"]
    return Reading(np.asarray(certificate.model["classes_"]), None if factors is None else np.asarray(factors))


def spread_over(tree: Nodes, data: PartitionedRows, reading: Reading) -> Spread:
    """Validate a tree and count the rows of its nodes in one pass; raise an error if a node has no rows."""
    tree, parent, branches = validated(tree, data.shape[1])
    if branches is not None or np.any(tree.kind > 1):
        raise CertificateError("A tree with splits by categories is verified with the rows in memory only.")
    _, _, depth = layout(parent)
    counts, fractions = data.map_reduce(_count, tree, reading)
    size = added_up(parent, counts).astype(np.int64)
    if np.any(size == 0):
        raise CertificateError(f"Node {int(np.argmin(size))} of the tree has no training rows.")
    whole = not fractions and data.total_weight**2 < 2.0**53 and reading.factors is None
    return Spread(tree, parent, depth, size, whole, data, reading)


def over_parts(data: Data, function: Any, *small: Any, combine: Any = None) -> Any:
    """Apply a function to the rows in memory, or to all partitions."""
    if isinstance(data.X, PartitionedRows):
        return over_rows(data.X, None, function, *small, combine=combine)
    return function(Part(data.X, data.target, data.weights, 0, "the rows"), *small)


@by_blocks
def _count(part: Part, tree: Nodes, reading: Reading) -> tuple[np.ndarray, int]:
    sample = reading.rows(part)
    kept = route(sample.X, sample.used, tree)
    return np.bincount(kept, minlength=len(tree.kind)), int(not whole_weights(sample.w))


@by_blocks
def _own(part: Part, tree: Nodes, reading: Reading, values: RowValues, small: tuple[Any, ...]) -> np.ndarray:
    sample = reading.rows(part)
    kept = route(sample.X, sample.used, tree)
    found = values(sample.y[sample.used], sample.w[sample.used], kept, *small)
    return by_node(found, kept, len(tree.kind))
