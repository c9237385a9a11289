"""Sums over the drawn rows of every node of a forest, computed for all trees by one pass over rows in memory or in partitions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.index_draws import Places, places_of
from surefit.checks.ensembles.packed import packed_trees
from surefit.checks.judge import Proof, refused, shared
from surefit.checks.labels import label_codes
from surefit.checks.trees.loops import layout
from surefit.checks.trees.nodes import LEAF, THRESHOLD, Nodes, added_up, parents, route, whole_weights
from surefit.checks.trees.spread import Reading, over_parts
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows, count_parts, weights_in
from surefit.core.sample import Data


class Members(NamedTuple):
    """All trees with their seeds, and the data that a partition needs to read its rows and to repeat the draws."""

    trees: tuple[Nodes, ...]
    seeds: tuple[int, ...]
    reading: Reading
    places: Places | None  # None if there is no bootstrap: every row has its sample weight
    criterion: str
    center: float  # a number close to the targets

    def weights(self, part: Part, tree: int) -> np.ndarray:
        """Return the number of draws of each row of a partition (or its sample weight without a bootstrap), before class weights."""
        return weights_in(part) if self.places is None else self.places.drawn(part, self.seeds[tree])


class Grown(NamedTuple):
    """Tree with sums over the rows of each node: number of rows, then weights by class, or weight and moments of the target."""

    tree: Nodes
    parent: np.ndarray
    depth: np.ndarray
    sums: np.ndarray
    whole: bool  # whether sums of weights are exact

    @property
    def size(self) -> np.ndarray:
        """Number of distinct rows of each node."""
        return self.sums[0].astype(np.int64)

    def weight(self, classes: int) -> np.ndarray:
        """Return the weight of each node."""
        return self.sums[1:].sum(axis=0) if classes else self.sums[1]


def refusal(certificate: Certificate, data: Data) -> str:
    """Return why a forest cannot be verified by sums over partitions; an empty string if it can."""
    problem = certificate.problem
    if "categorical" not in problem:
        return "members other than trees are verified with the rows in memory only"
    if problem["categorical"] or problem["criterion"] == "absolute_error" or data.target.ndim > 1:
        return "categories, medians and several targets of a forest are verified with the rows in memory only"
    if problem["bootstrap"] and not problem.get("drawn_by_index"):
        return "draws that depend on the order of all values are repeated with the rows in memory only"
    if isinstance(problem["class_weights"], str):
        return "class weights of each tree are verified with the rows in memory only"
    return ""


@shared
def members_of(certificate: Certificate, data: Data) -> Members:
    """Validate the trees of a certificate and return them with their seeds and draws."""
    problem, classes = certificate.problem, None
    if problem["classes"]:
        label_codes(certificate, data)
        classes = np.asarray(certificate.model["classes_"])
    factors = None if problem["class_weights"] is None else np.asarray(problem["class_weights"], dtype=np.float64)
    center = 0.0
    if classes is None and problem["criterion"] == "squared_error":
        center = float(np.median(data.X.sample[:, -1] if isinstance(data.X, PartitionedRows) else data.target))
    trees = []
    for tree in packed_trees(certificate.model, data.X.shape[1]):
        none, words = np.full(len(tree.feature), -1, dtype=np.int32), np.empty(0, dtype=np.uint64)
        kind = np.where(tree.feature < 0, LEAF, THRESHOLD).astype(np.int8)
        trees.append(Nodes(kind, *tree[:-1], none, words, none[:0], tree.value, 1))
    return Members(
        tuple(trees),
        seeds_of(certificate, len(trees)),
        Reading(classes, factors),
        places_of(certificate, data) if problem["bootstrap"] else None,
        "entropy" if problem["criterion"] == "log_loss" else problem["criterion"],
        center,
    )


def seeds_of(certificate: Certificate, count: int | None = None) -> tuple[int, ...]:
    """Validate and return the seeds of the members; if ``count`` is given, there must be that many."""
    seeds = np.asarray(certificate.model["tree_seeds_"])
    if seeds.ndim != 1 or seeds.dtype.kind not in "iu" or np.any((seeds < 0) | (seeds >= 2**32)):
        raise ValueError("the seeds must be integers from 0 to 2**32 - 1")
    if count is not None and len(seeds) != count:
        raise ValueError("every tree must have a seed")
    return tuple(seeds.tolist())


@shared
def grown_trees(certificate: Certificate, data: Data) -> list[Grown]:
    """Return all trees with the sums over the rows of their nodes, computed by one pass."""
    members, d = members_of(certificate, data), data.X.shape[1]
    sums, fractions = over_parts(data, _summed, members)
    ends = np.cumsum([0, *(len(tree.kind) for tree in members.trees)])
    found = []
    for tree, first, last in zip(members.trees, ends[:-1], ends[1:], strict=True):
        parent, _ = parents(tree, d)
        own = added_up(parent, sums[:, first:last])
        if np.any(own[0] == 0):
            raise ValueError("a node has no drawn rows")
        whole = not fractions and members.reading.factors is None and float(own[1:, 0].sum()) ** 2 < 2.0**53
        found.append(Grown(tree, parent, layout(parent)[2], own, whole))
    return found


def _summed(part: Part, members: Members) -> tuple[np.ndarray, int]:
    """Return the sums over the rows that end at each node, one line per sum, and 1 if some weight is not an integer (else 0)."""
    sample = members.reading.rows(part._replace(weights=None))
    found, fractions = [], 0
    for t, tree in enumerate(members.trees):
        w = sample.w * members.weights(part, t)
        rows = np.flatnonzero(w > 0)
        kept, size = route(sample.X, rows, tree), len(tree.kind)
        lines = values_of(sample.y[rows], w[rows], members)
        found.append(np.array([np.bincount(kept, weights=line, minlength=size) for line in lines]))
        fractions |= int(not whole_weights(w))
    return np.concatenate(found, axis=1), fractions


def values_of(y: np.ndarray, w: np.ndarray, members: Members) -> list[np.ndarray]:
    """Return the terms to sum over rows: ones, then weights by class, or weights, moments and terms of the impurity."""
    ones, classes = np.ones(len(w)), members.reading.n_classes
    if classes:
        return [ones, *(w * (y == k) for k in range(classes))]
    off = y - members.center
    if members.criterion == "poisson":
        logs = np.log(np.where(y > 0, y, 1.0))
        return [ones, w, w * y, w * y, w * y * logs, w * y * (np.abs(logs) + 1)]
    return [ones, w, w * off, w * np.abs(off), w * off**2, w * off**2]


def leaves_in_parts(certificate: Certificate, data: Data) -> Proof:
    """Bound the distance of the value of every leaf from the mean or the class fractions of its drawn rows."""
    why = refusal(certificate, data)
    if why:
        return refused(why)
    members, worst, doubt = members_of(certificate, data), 0.0, 0.0
    wanted, stored = max(members.reading.n_classes, 1), members.trees[0].value.shape[1]
    if stored < wanted or (stored > wanted and not members.reading.n_classes):
        return refused(f"leaves must have {wanted} values, one per output or class; they have {stored}")
    ratio = gamma(data.X.shape[0] + count_parts(data.X) + 8)
    for grown in grown_trees(certificate, data):
        own = grown.tree.kind == LEAF
        value, sums = grown.tree.value[own], grown.sums[1:, own]
        if members.reading.n_classes:
            distance = np.abs((sums / sums.sum(axis=0)).T - value[:, :wanted])
            rounding = 4 * (4 * UNIT if grown.whole else ratio)
        else:
            off = value[:, 0] - members.center
            distance = np.abs(off - sums[1] / sums[0])
            rounding = float(np.max(2 * ratio * sums[2] / sums[0] + 4 * UNIT * np.abs(off))) * (1 + ratio)
        worst, doubt = max(worst, float(np.max(distance))), max(doubt, rounding)
    count = sum(int(np.count_nonzero(tree.kind == LEAF)) for tree in members.trees)
    numbers = {"leaves": count, "trees": len(members.trees), "median": False}
    note = "draws were repeated from the seeds, and the rows sent down every tree."
    return Proof(worst + doubt, "enclosed", note, numbers, spread=doubt)
