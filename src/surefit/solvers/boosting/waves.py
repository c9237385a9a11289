"""Growth of a tree on rows in partitions: the steps of :mod:`surefit.solvers.boosting.grower`, with histograms in batches.

Splits are chosen on the client, in the same order as on one machine. The split of a waiting node is already known, so
the histogram of its smaller child can be requested in advance, and one pass over the rows serves all waiting nodes. A
tree takes about as many passes as it has levels, not one per split.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.binning import code_at
from surefit.solvers.boosting.grower import adopt, choose, goes_left, left_codes, may_split
from surefit.solvers.boosting.histograms import Scale, add_all, add_some
from surefit.solvers.boosting.nodes import Columns, Limits, Nodes
from surefit.solvers.boosting.splits import Rules

WAVE = 64  # histograms per pass, which bounds the memory of the client


class Frontier(NamedTuple):
    """The tree so far, and the nodes whose smaller children need histograms; without nodes, the histogram of all rows."""

    feature: np.ndarray
    bin: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    subset: np.ndarray
    closed: np.ndarray  # rows stop here
    wanted: np.ndarray  # index of the histogram that the node requests, or -1
    to_left: np.ndarray  # whether its smaller child is the left one


class Growth:
    """A growing tree on the client: nodes, histograms of the waiting nodes, and histograms requested in advance."""

    def __init__(self, columns: Columns, nodes: Nodes, scale: Scale, rules: Rules, limits: Limits, seed: int) -> None:
        self.columns, self.nodes, self.scale, self.rules, self.limits = columns, nodes, scale, rules, limits
        self.state = np.uint64(seed)
        self.count = self.leaves = 1
        self.pending: list[int] = []
        self.held: dict[int, np.ndarray] = {}
        self.ready: dict[int, np.ndarray] = {}

    def run(self, rows: int) -> Generator[Frontier, np.ndarray, None]:
        """Yield frontiers and receive their histograms; the tree is complete when the generator ends."""
        nodes = self.nodes
        nodes.first[0], nodes.last[0], nodes.depth[0], nodes.sets[0] = 0, rows, 0, -1
        nodes.low[0], nodes.high[0], nodes.feature[0] = -np.inf, np.inf, -1
        if not may_split(nodes, 0, self.rules, self.limits):
            return
        histogram = (yield self._frontier(0, []))[0]
        nodes.gradient[0], nodes.packed[0] = histogram[0].sum(axis=0)
        self._consider(0, histogram)
        while self.pending:
            node = self._next()
            if self._full():
                nodes.feature[node] = -1
                continue
            before, histogram = self.count, self.held.pop(node)
            left, right = self._split(node, histogram)
            still = not self._full()
            open_left, open_right = (still and may_split(nodes, c, self.rules, self.limits) for c in (left, right))
            if not (open_left or open_right):
                continue
            if node not in self.ready:
                asked = [node, *self._others()]
                found = yield self._frontier(before, asked)
                self.ready.update(zip(asked, found, strict=True))
            part = self.ready.pop(node)
            rest = histogram - part
            small_is_left = self._rows(left) <= self._rows(right)
            small, large = (left, right) if small_is_left else (right, left)
            for child, own in ((large, rest), (small, part)):
                if open_left if child == left else open_right:
                    self._consider(child, own)

    def _rows(self, node: int) -> int:
        return int(self.nodes.last[node] - self.nodes.first[node])

    def _full(self) -> bool:
        return self.limits.max_leaves > 0 and self.leaves >= self.limits.max_leaves

    def _consider(self, node: int, histogram: np.ndarray) -> None:
        """Choose the best split of a node; if there is one, add the node to the waiting nodes."""
        self.state = np.uint64(
            choose(self.columns, self.nodes, node, histogram, self.scale, self.rules, self.limits, self.state)
        )
        if self.nodes.feature[node] >= 0:
            self.pending.append(node)
            self.held[node] = histogram

    def _next(self) -> int:
        """Remove and return the waiting node with the largest gain; without a limit on leaves, one of the last, to save memory."""
        at = max(len(self.pending) - WAVE, 0)
        if self.limits.max_leaves > 0:
            at = min(range(len(self.pending)), key=lambda k: self._rank(self.pending[k]))
        node, self.pending[at] = self.pending[at], self.pending[-1]
        self.pending.pop()
        return node

    def _rank(self, node: int) -> tuple[float, int]:
        return -float(self.nodes.gain[node]), node

    def _split(self, node: int, histogram: np.ndarray) -> tuple[int, int]:
        left, right, nodes = self.count, self.count + 1, self.nodes
        self.count += 2
        self.leaves += 1
        nodes.left[node], nodes.right[node] = left, right
        cells = histogram[nodes.feature[node]]
        adopt(self.columns, nodes, node, left, right, cells, left_codes(nodes, node), self.scale, self.rules)
        return left, right

    def _others(self) -> list[int]:
        """Return other waiting nodes whose children may be split later, in the order in which they will be split."""
        most, order = WAVE - 1, self.pending[::-1]
        if self.limits.max_leaves > 0:
            most = min(most, self.limits.max_leaves - self.leaves - 1)
            order = sorted(self.pending, key=self._rank)
        least = max(2 * self.rules.min_rows, 2)
        return [
            node
            for node in order[: max(most, 0)]
            if node not in self.ready
            and self.nodes.depth[node] + 1 < self.limits.max_depth
            and max(self._divided(node)) >= least
        ]

    def _divided(self, node: int) -> tuple[int, int]:
        """Return the numbers of rows that a waiting node will send left and right."""
        mask = (1 << self.scale.count_bits) - 1
        counts = self.held[node][self.nodes.feature[node], :, 1] & mask
        left = int(np.sum(counts[left_codes(self.nodes, node)]))
        return left, self._rows(node) - left

    def _frontier(self, count: int, asked: list[int]) -> Frontier:
        nodes, wanted, to_left = self.nodes, np.full(count, -1), np.zeros(count, dtype=bool)
        closed = nodes.feature[:count] < 0
        for k, node in enumerate(asked):
            wanted[node] = k
            left, right = self._divided(node) if node in self.held else map(self._rows, self._children(node))
            to_left[node] = left <= right
        closed[[node for node in (*self.pending, *asked[:1])]] = True
        copied = {name: getattr(nodes, name)[:count].copy() for name in Frontier._fields[:6]}
        return Frontier(closed=closed, wanted=wanted, to_left=to_left, **copied)

    def _children(self, node: int) -> tuple[int, int]:
        return int(self.nodes.left[node]), int(self.nodes.right[node])


def histograms(words: np.ndarray, by_row: np.ndarray, cells: np.ndarray, frontier: Frontier) -> np.ndarray:
    """Return the histograms that a frontier requests, over the rows of one partition."""
    groups = len(words)
    if not len(frontier.feature):
        found = np.zeros((1, 4 * groups, 256, 2), dtype=np.int64)
        add_all(words, cells, 0, groups, found[0])
        return found
    found = np.zeros((int(frontier.wanted.max()) + 1, 4 * groups, 256, 2), dtype=np.int64)
    place = np.empty(words.shape[1], dtype=np.int16)
    _places(words, frontier, place)
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(-1, len(found)), side="right")
    for k in range(len(found)):
        add_some(by_row, cells, order[ends[k] : ends[k + 1]].astype(np.uint32), 0, groups, found[k])
    return found


@compiled
def _places(words: Any, tree: Frontier, place: Any) -> None:
    """Write the index of the histogram to which each row belongs, or -1."""
    for i in range(len(place)):
        node = 0
        while not tree.closed[node]:
            code = np.int64(code_at(words, tree.feature[node], i))
            node = tree.left[node] if goes_left(tree, node, code) else tree.right[node]
        place[i] = -1
        if tree.wanted[node] >= 0:
            code = np.int64(code_at(words, tree.feature[node], i))
            if goes_left(tree, node, code) == tree.to_left[node]:
                place[i] = tree.wanted[node]
