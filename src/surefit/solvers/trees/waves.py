"""Growth of a tree on rows in partitions: one pass computes the histograms of all waiting nodes; the client chooses splits.

The rules are those of :mod:`surefit.solvers.trees.grow`. Sums are integers, so the tree does not depend on how the rows
are divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from surefit.core.partitioned import PartValues
from surefit.solvers.trees import flat
from surefit.solvers.trees.candidates import Candidates
from surefit.solvers.trees.cells import HALF, Reading
from surefit.solvers.trees.criteria import POISSON, class_spread, spread
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.frontier import Frontier, best_column, count_rows, joined, sum_cells
from surefit.solvers.trees.nodes import NODE, Rules, finished
from surefit.solvers.trees.targets import TIE, Limits

MOST_BYTES = 2**26  # size of the histograms that one pass returns, which bounds the memory of the client


class Found(NamedTuple):
    """The best split of a node."""

    decrease: float
    feature: int
    code: int  # values with this code or a smaller one go left
    missing_left: bool


@dataclass
class Node:
    """Node on the client, with the integer sums over its rows."""

    cells: np.ndarray
    depth: int
    low: float = -math.inf
    high: float = math.inf
    spread: float = 0.0
    reason: int = flat.SPLIT
    split: Found | None = None
    threshold: float = math.nan
    children: list[int] = field(default_factory=list)
    left: np.ndarray | None = None  # integer sums over the rows that go left
    rows: int = 0
    weight: float = 0.0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Waves:
    """Tree that grows by passes over the partitions."""

    def __init__(
        self,
        cells: PartValues,
        reading: Reading,
        candidates: Candidates,
        rules: Rules,
        monotone: np.ndarray | None,
    ) -> None:
        d = len(candidates.counts)
        self.cells, self.reading, self.candidates, self.rules = cells, reading, candidates, rules
        self.monotone = np.zeros(d, dtype=np.int64) if monotone is None else np.asarray(monotone, dtype=np.int64)
        self.nodes: list[Node] = []
        self.random, self.drawn = np.array([np.uint64(rules.seed)]), np.arange(d)

    def grow(self) -> FlatTree:
        """Grow the tree and return it."""
        width = 1 + (2 if self.reading.exponents else 1) * self._amounts
        total = self.cells.map_reduce(sum_cells, width)
        self._evaluate([self._add(total, 0, -math.inf, math.inf)])
        adopted: dict[int, int] = {0: 0}
        waiting = [0] if self.nodes[0].reason == flat.SPLIT else []
        while waiting:
            if 0 < self.rules.max_leaf_nodes < len(adopted) // 2 + 2:
                for node in waiting:
                    self.nodes[node].reason = flat.LEAVES
                break
            chosen = self._chosen(waiting)
            if not all(self.nodes[node].children for node in chosen):
                self._divide([node for node in sorted({*chosen, *waiting}) if not self.nodes[node].children])
            for node in chosen:
                for child in self.nodes[node].children:
                    adopted[child] = len(adopted)
                waiting += [c for c in reversed(self.nodes[node].children) if self.nodes[c].reason == flat.SPLIT]
        return self._finished(adopted)

    def _chosen(self, waiting: list[int]) -> list[int]:
        """Remove and return the nodes to split: all waiting nodes, or with limited leaves the one with the largest decrease."""
        if self.rules.max_leaf_nodes <= 0:
            everything = list(waiting)
            waiting.clear()
            return everything
        best = len(waiting) - 1
        for i in range(len(waiting)):
            if self._decrease(waiting[i]) > self._decrease(waiting[best]):
                best = i
        return [waiting.pop(best)]

    @property
    def _amounts(self) -> int:
        return 3 if self.reading.classes is None else len(self.reading.classes)

    def _decrease(self, node: int) -> float:
        split = self.nodes[node].split
        return -math.inf if split is None else max(split.decrease, 0.0)

    def _add(self, cells: np.ndarray, depth: int, low: float, high: float) -> int:
        """Add a node, with the weight and the sums of its target."""
        found = self.reading.floats(cells)
        node = Node(cells, depth, low, high, rows=int(found[0]), weight=float(found[1]))
        two = self.reading.classes is not None and len(self.reading.classes) == 2
        node.sums = found[3:] if two else found[2:3] if self.reading.classes is None else found[2:]
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _divide(self, nodes: list[int]) -> None:
        """Create the children of nodes that have a split."""
        new = []
        for index in nodes:
            node = self.nodes[index]
            assert node.split is not None and node.left is not None
            left = node.left
            sides = [(left, node.low, node.high), (node.cells - left, node.low, node.high)]
            a, b = (self._add(cells, node.depth + 1, low, high) for cells, low, high in sides)
            node.children = [a, b]
            sign = int(self.monotone[node.split.feature])
            if sign:
                first, second = self.nodes[a], self.nodes[b]
                middle = (float(first.sums[0]) / first.weight + float(second.sums[0]) / second.weight) / 2.0
                middle = min(max(middle, node.low), node.high)
                if sign > 0:
                    first.high = second.low = middle
                else:
                    first.low = second.high = middle
            new += [b, a]
        self._evaluate(new)

    def _evaluate(self, nodes: list[int]) -> None:
        """Find the impurity of new nodes and their best splits, by as many passes as their histograms need."""
        d, width = len(self.candidates.counts), len(self.nodes[0].cells)
        size = max(1, MOST_BYTES // (8 * d * 256 * width))
        numbers = self.reading.classes is None
        for first in range(0, len(nodes), size):
            some = nodes[first : first + size]
            for index in some:
                self._open(index)
            asked = [index for index in some if self.nodes[index].reason == flat.SPLIT]
            if not asked and not numbers:
                continue
            ranges = some if numbers else []
            tables, low, high = self.cells.map_reduce(count_rows, self._frontier(asked, ranges), combine=joined)
            for place, index in enumerate(ranges):
                if low[place] == high[place]:
                    self.nodes[index].reason, self.nodes[index].spread = flat.PURE, 0.0
            for place, index in enumerate(asked):
                if self.nodes[index].reason == flat.SPLIT:
                    self._search(index, tables[place])

    def _open(self, index: int) -> None:
        """Decide whether a node must be a leaf; equal real targets are detected only by the next pass."""
        node, rules = self.nodes[index], self.rules
        node.spread = self._spread(node)
        if self.reading.classes is not None and np.count_nonzero(self._classes(node)) == 1:
            node.reason, node.spread = flat.PURE, 0.0
        elif node.depth >= rules.max_depth:
            node.reason = flat.DEPTH
        elif (
            node.rows < rules.min_samples_split
            or node.rows < 2 * rules.min_samples_leaf
            or node.weight < 2 * rules.min_weight_leaf
        ):
            node.reason = flat.FEW_ROWS

    def _classes(self, node: Node) -> np.ndarray:
        return self.reading.floats(node.cells)[2:]

    def _spread(self, node: Node) -> float:
        """Return the total impurity of a node."""
        criterion = self.reading.criterion
        if self.reading.classes is not None:
            if len(node.sums) == 1:
                return float(spread(criterion, node.weight, node.sums[0]))
            return float(class_spread(criterion, node.sums, node.weight))
        third = float(self.reading.floats(node.cells)[3])
        if criterion == POISSON:
            mean = float(node.sums[0]) / node.weight
            return max(third - float(node.sums[0]) * math.log(mean), 0.0) if mean > 0 else 0.0
        weight, product, square = (
            Fraction((int(high) << HALF) + int(low)) * Fraction(2) ** (exponent - 2 * HALF)
            for high, low, exponent in zip(node.cells[1:4], node.cells[4:7], self.reading.exponents, strict=True)
        )
        return max(float(square - product * product / weight), 0.0)  # exact up to rounding to units

    def _frontier(self, asked: list[int], ranges: list[int]) -> Frontier:
        m = len(self.nodes)
        feature, code, left, right = (np.full(m, -1, dtype=np.int64) for _ in range(4))
        missing_left = np.zeros(m, dtype=np.bool_)
        for index, node in enumerate(self.nodes):
            if node.children and node.split is not None:
                feature[index], code[index], missing_left[index] = node.split[1:]
                left[index], right[index] = node.children
        places = np.full((2, m), -1, dtype=np.int64)
        places[0, asked], places[1, ranges] = np.arange(len(asked)), np.arange(len(ranges))
        return Frontier(feature, code, missing_left, left, right, places[0], places[1])

    def _search(self, index: int, table: np.ndarray) -> None:
        """Find the best split of a node, or make it a leaf."""
        node, rules = self.nodes[index], self.rules
        sums = self.reading.floats(table)
        two = self.reading.classes is not None and len(self.reading.classes) == 2
        bins = sums[..., [0, 1, 3]] if two else sums[..., :3] if self.reading.classes is None else sums
        limits = Limits(
            rules.min_samples_leaf,
            float(rules.min_weight_leaf),
            TIE * node.spread,
            -1,
            np.int64(0),
            node.low,
            node.high,
        )
        place, found = best_column(
            self.reading.target(),
            np.ascontiguousarray(bins),
            float(node.rows),
            node.weight,
            np.ascontiguousarray(node.sums),
            limits,
            self.monotone,
            (min(rules.max_features, len(self.drawn)), rules.random_cuts),
            (self.random, self.drawn),
        )
        feature, best = place
        tie = TIE * node.spread
        if feature < 0:
            node.reason = flat.NO_CUT
            return
        if best < rules.min_gain * node.weight or best < rules.min_impurity_decrease * self.nodes[0].weight - tie:
            node.reason = flat.SMALL_GAIN
            return
        self._note(index, table[feature], Found(best, int(feature), int(found.place), bool(found.missing_left)))

    def _note(self, index: int, line: np.ndarray, found: Found) -> None:
        """Store a split; ``found.code`` is the number of rows with a value that go left."""
        counts, node = line[:255, 0], self.nodes[index]
        code = int(np.argmax(np.cumsum(counts) >= found.code))
        present = np.flatnonzero(counts)
        following = present[present > code]
        missing, left = line[255], line[: code + 1].sum(axis=0)
        to_left = found.missing_left
        if missing[0] == 0:
            to_left = bool(2 * left[0] > node.rows)  # values missing at prediction go where most rows go
        node.threshold = math.inf
        if len(following):
            node.threshold = self.candidates.threshold(found.feature, code, int(following[0]))
        node.split = found._replace(code=code, missing_left=to_left)
        node.left = left + missing if found.missing_left else left

    def _finished(self, adopted: dict[int, int]) -> FlatTree:
        nodes, old = np.recarray(len(adopted), dtype=NODE), list(adopted)
        sums = np.array([self.nodes[index].sums for index in old])
        for record, index in zip(nodes, old, strict=True):
            own = self.nodes[index]
            inner = own.split is not None and all(child in adopted for child in own.children) and bool(own.children)
            record.first, record.last, record.depth, record.start = 0, own.rows, own.depth, -1
            record.weight, record.spread, record.low, record.high = own.weight, own.spread, own.low, own.high
            record.left = record.right = record.feature = -1
            record.kind, record.reason, record.decrease = flat.LEAF, own.reason, 0.0
            record.threshold, record.missing_left = math.nan, False
            if inner and own.split is not None:
                record.kind, record.reason, record.decrease = flat.THRESHOLD, flat.SPLIT, max(own.split.decrease, 0.0)
                record.feature, record.missing_left, record.threshold = (
                    own.split.feature,
                    own.split.missing_left,
                    own.threshold,
                )
                record.left, record.right = (adopted[child] for child in own.children)
        tree = finished(nodes, sums, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32), 1)
        if self.reading.classes is not None and sums.shape[1] == 1:
            tree = tree._replace(values=np.column_stack([1.0 - tree.values[:, 0], tree.values[:, 0]]))
        return tree._replace(values=tree.values + self.reading.center) if self.reading.center else tree
