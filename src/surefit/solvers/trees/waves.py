"""Growing of a tree whose rows are in partitions: a wave requests histograms of all waiting nodes and then chooses their splits.

The rules are those of :mod:`surefit.solvers.trees.grow`. Sums are integers, and the path of a node determines its random
numbers, so the tree does not depend on the partitions. :mod:`surefit.solvers.trees.passes` serves the waves of many trees by one pass.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from fractions import Fraction

import numpy as np

from surefit.solvers.trees import flat
from surefit.solvers.trees.candidates import Candidates
from surefit.solvers.trees.cells import HALF, Reading
from surefit.solvers.trees.criteria import POISSON, class_spread, spread
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.frontier import CODES, NO_NODES, Counted, NewSplits, Shape
from surefit.solvers.trees.node_draws import child_states, column_orders, cut_shares, root_state
from surefit.solvers.trees.nodes import NODE, Rules, finished
from surefit.solvers.trees.targets import TIE
from surefit.solvers.trees.wave_nodes import Found, Node, Question
from surefit.solvers.trees.wave_search import Searched, Splits, search

Wave = Generator[list[Question], Counted, None]  # yields requests, receives histograms


class Waves:
    """Growing tree: its nodes, and the waves of histogram requests."""

    def __init__(
        self,
        reading: Reading,
        candidates: Candidates,
        rules: Rules,
        monotone: np.ndarray | None = None,
        columns: np.ndarray | None = None,
    ) -> None:
        """Prepare a tree that uses ``columns`` (all columns if None)."""
        d = len(candidates.counts)
        self.reading, self.candidates, self.rules = reading, candidates, rules
        self.monotone = np.zeros(d, dtype=np.int64) if monotone is None else np.asarray(monotone, dtype=np.int64)
        self.closed = np.zeros(d, dtype=np.bool_) if columns is None else ~np.isin(np.arange(d), columns)
        self.nodes: list[Node] = []
        self.fresh: list[
            tuple[int, ...]
        ] = []  # splits since the last pass: node, column, code, side of missing values, left child
        self.adopted: dict[int, int] = {}  # indices of the nodes in the tree; other nodes were created in advance

    def run(self, total: np.ndarray) -> Wave:
        """Grow the tree, given the sums over all rows: yield the requests of each wave and receive the histograms."""
        self._add([Node(total, 0, root_state(self.rules.seed), self.closed)])
        self.adopted[0] = 0
        yield from self._evaluate([0])
        waiting = [0] if self.nodes[0].reason == flat.SPLIT else []
        while waiting:
            if 0 < self.rules.max_leaf_nodes < len(self.adopted) // 2 + 2:
                for node in waiting:
                    self.nodes[node].reason = flat.LEAVES
                break
            chosen = self._chosen(waiting)
            if not all(self.nodes[node].children for node in chosen):
                yield from self._divide([n for n in sorted({*chosen, *waiting}) if not self.nodes[n].children])
            for node in chosen:
                for child in self.nodes[node].children:
                    self.adopted[child] = len(self.adopted)
                waiting += [c for c in reversed(self.nodes[node].children) if self.nodes[c].reason == flat.SPLIT]

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

    def _decrease(self, node: int) -> float:
        split = self.nodes[node].split
        return -math.inf if split is None else max(split.decrease, 0.0)

    def _add(self, new: list[Node]) -> list[int]:
        """Append nodes, set their weights and sums of targets, and return their indices."""
        found = self.reading.floats(np.array([node.cells for node in new]))
        two = self.reading.classes is not None and len(self.reading.classes) == 2
        sums = np.ascontiguousarray(
            found[:, 3:] if two else found[:, 2:3] if self.reading.classes is None else found[:, 2:]
        )
        kinds = np.count_nonzero(found[:, 2:], axis=1).tolist()
        for node, line, own, count in zip(new, found.tolist(), sums, kinds, strict=True):
            node.rows, node.weight, node.sums, node.classes = int(line[0]), line[1], own, count
        self.nodes += new
        return list(range(len(self.nodes) - len(new), len(self.nodes)))

    def _divide(self, nodes: list[int]) -> Wave:
        """Create the children of nodes that have a split."""
        new = []
        states = child_states([self.nodes[index].state for index in nodes]).tolist()
        for index, (left, right) in zip(nodes, states, strict=True):
            node = self.nodes[index]
            assert node.left is not None
            first = Node(node.left, node.depth + 1, left, node.closed, node.low, node.high)
            new += [first, Node(node.cells - node.left, node.depth + 1, right, node.closed, node.low, node.high)]
        added = self._add(new)
        for index, a, b in zip(nodes, added[::2], added[1::2], strict=True):
            node = self.nodes[index]
            assert node.split is not None
            node.children = [a, b]
            self.fresh.append((index, *node.split[1:3], int(node.split.missing_left), a))
            self._bound(node, self.nodes[a], self.nodes[b], int(self.monotone[node.split.feature]))
        yield from self._evaluate(added)

    def _bound(self, node: Node, left: Node, right: Node, sign: int) -> None:
        """Set bounds on the values of two children if their order is constrained."""
        if not sign:
            return
        middle = (float(left.sums[0]) / left.weight + float(right.sums[0]) / right.weight) / 2.0
        middle = min(max(middle, node.low), node.high)
        if sign > 0:
            left.high = right.low = middle
        else:
            left.low = right.high = middle

    def _evaluate(self, nodes: list[int]) -> Wave:
        """Compute the impurities and best splits of new nodes; nodes that drew constant columns request more."""
        numbers = self.reading.classes is None
        for index in nodes:
            self._open(index)
        asked = nodes if numbers else [index for index in nodes if self.nodes[index].reason == flat.SPLIT]
        while asked:
            questions = self._questions(asked)
            counted = yield questions
            for index, low, high in zip(asked, counted.low.tolist(), counted.high.tolist(), strict=True):
                if numbers and low == high:
                    self.nodes[index].reason, self.nodes[index].spread = flat.PURE, 0.0
            asked = self._search(questions, counted)

    def _questions(self, asked: list[int]) -> list[Question]:
        """Return the first usable columns of each node; small nodes request additional columns, because some may be constant."""
        d = len(self.closed)
        nodes, wanted = [self.nodes[index] for index in asked], min(self.rules.max_features, d)
        drawn = self.rules.max_features < d
        orders = column_orders([node.state for node in nodes], d) if drawn else [np.arange(d)] * len(nodes)
        found = []
        for index, node, order in zip(asked, nodes, orders, strict=True):
            count = max(wanted, min(2 * wanted + 2, CODES * wanted // node.rows))
            columns = order[~node.closed[order]][:count]
            found.append(Question(index, columns if node.reason == flat.SPLIT else columns[:0]))
        return found

    def _open(self, index: int) -> None:
        """Decide whether a node must be a leaf; equal real targets are detected only by the next pass."""
        node, rules = self.nodes[index], self.rules
        node.spread = self._spread(node)
        if self.reading.classes is not None and node.classes == 1:
            node.reason, node.spread = flat.PURE, 0.0
        elif node.depth >= rules.max_depth:
            node.reason = flat.DEPTH
        elif (
            node.rows < rules.min_samples_split
            or node.rows < 2 * rules.min_samples_leaf
            or node.weight < 2 * rules.min_weight_leaf
        ):
            node.reason = flat.FEW_ROWS

    def _spread(self, node: Node) -> float:
        """Return the total impurity of a node."""
        criterion = self.reading.criterion
        if self.reading.classes is not None:
            if len(node.sums) == 1:
                return float(spread(criterion, node.weight, node.sums[0]))
            return float(class_spread(criterion, node.sums, node.weight))
        if criterion == POISSON:
            third, mean = float(self.reading.floats(node.cells)[3]), float(node.sums[0]) / node.weight
            return max(third - float(node.sums[0]) * math.log(mean), 0.0) if mean > 0 else 0.0
        weight, product, square = (
            Fraction((int(high) << HALF) + int(low)) * Fraction(2) ** (exponent - 2 * HALF)
            for high, low, exponent in zip(node.cells[1:4], node.cells[4:7], self.reading.exponents, strict=True)
        )
        return max(float(square - product * product / weight), 0.0)  # exact up to rounding to units

    def new_splits(self) -> NewSplits:
        """Return the splits since the last call, for the partitions."""
        nodes, *splits = np.array(self.fresh, dtype=np.int64).reshape(-1, 5).T
        self.fresh = []
        kinds = (own.dtype for own in NO_NODES)
        shape = Shape(*(own.astype(kind) for own, kind in zip(splits, kinds, strict=True)))
        return NewSplits(len(self.nodes), nodes.astype(np.int32), shape)

    def _search(self, questions: list[Question], counted: Counted) -> list[int]:
        """Set the best splits, or make nodes leaves; return the nodes that need more columns."""
        rules, nodes = self.rules, [self.nodes[question.node] for question in questions]
        starts, columns = np.cumsum([0, *(len(question.columns) for question in questions)]), _joined(questions)
        shares = np.full(len(columns), -1.0)
        if rules.random_cuts:
            table = cut_shares([node.state for node in nodes], len(self.closed))
            shares = table[np.repeat(np.arange(len(nodes)), np.diff(starts)), columns]
        tie = np.array([TIE * node.spread for node in nodes])
        lines = [[float(node.rows), node.weight, node.low, node.high] for node in nodes]
        n, weight, low, high = np.ascontiguousarray(np.array(lines).T)
        found = search(
            self.reading.target(),
            self.reading.units(),
            (counted.keys, counted.cells),
            (starts, columns, shares, self.candidates.edges),
            Searched(n, weight, np.array([node.sums for node in nodes]), tie, low, high),
            (rules.min_samples_leaf, float(rules.min_weight_leaf), rules.max_features, self.monotone),
        )
        again = []
        for p, (question, node) in enumerate(zip(questions, nodes, strict=True)):
            if node.reason != flat.SPLIT:
                continue
            varied = found.varied[starts[p] : starts[p + 1]]
            if not varied.all():  # constant columns are excluded for all descendants
                node.closed = node.closed.copy()
                node.closed[question.columns[~varied]] = True
                if found.useful[p] < min(rules.max_features, np.count_nonzero(~node.closed)):
                    again.append(question.node)
                    continue
            self._note(node, found, p, float(tie[p]))
        return again

    def _note(self, node: Node, found: Splits, p: int, tie: float) -> None:
        """Store the split of a node, or the reason why it is a leaf."""
        best, feature, rules = float(found.decrease[p]), int(found.column[p]), self.rules
        if feature < 0:
            node.reason = flat.NO_CUT
            return
        if best < rules.min_gain * node.weight or best < rules.min_impurity_decrease * self.nodes[0].weight - tie:
            node.reason = flat.SMALL_GAIN
            return
        code, following, node.left = int(found.code[p]), int(found.following[p]), found.left[p]
        to_left = bool(found.missing_left[p])
        if not found.missing[p]:
            to_left = bool(2 * found.left[p, 0] > node.rows)  # missing values at prediction follow the majority
        threshold = self.candidates.threshold
        node.threshold = threshold(feature, code, following) if following >= 0 else math.inf
        node.split = Found(best, feature, code, to_left)

    def tree(self) -> FlatTree:
        """Return the current tree; waiting nodes become leaves."""
        adopted = self.adopted
        if self.rules.max_leaf_nodes <= 0:  # include children that were created but not yet evaluated
            for node in list(adopted):
                for child in self.nodes[node].children:
                    adopted.setdefault(child, len(adopted))
        own = [self.nodes[index] for index in adopted]
        nodes, sums = np.zeros(len(own), dtype=NODE), np.array([node.sums for node in own])
        for name in ("depth", "weight", "spread", "low", "high"):
            nodes[name] = [getattr(node, name) for node in own]
        nodes["last"] = [node.rows for node in own]
        nodes["reason"] = [node.reason or flat.STOPPED for node in own]
        nodes["threshold"], nodes["kind"] = math.nan, flat.LEAF
        nodes["left"] = nodes["right"] = nodes["feature"] = nodes["start"] = -1
        inner = [i for i, node in enumerate(own) if node.children and node.children[0] in adopted]
        splits = [node.split for node in (own[i] for i in inner) if node.split is not None]
        nodes["kind"][inner], nodes["reason"][inner] = flat.THRESHOLD, flat.SPLIT
        nodes["threshold"][inner] = [own[i].threshold for i in inner]
        for name in ("feature", "missing_left"):
            nodes[name][inner] = [getattr(split, name) for split in splits]
        nodes["decrease"][inner] = [max(split.decrease, 0.0) for split in splits]
        for side, name in enumerate(("left", "right")):
            nodes[name][inner] = [adopted[own[i].children[side]] for i in inner]
        tree = finished(nodes, sums, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32), 1)
        if self.reading.classes is not None and sums.shape[1] == 1:
            tree = tree._replace(values=np.column_stack([1.0 - tree.values[:, 0], tree.values[:, 0]]))
        return tree._replace(values=tree.values + self.reading.center) if self.reading.center else tree


def _joined(questions: list[Question]) -> np.ndarray:
    return np.concatenate([question.columns for question in questions])
