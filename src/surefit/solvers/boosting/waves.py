"""Growth of a tree on rows in partitions: the steps of :mod:`surefit.solvers.boosting.grower`, with histograms in batches.

Splits are chosen on the client, in the same order as on one machine. The split of a waiting node is already known, so
the histogram of its smaller child can be requested in advance, and one pass over the rows serves all waiting nodes. A
tree takes about as many passes as it has levels, not one per split.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from surefit.solvers.boosting.arranged import Request, Splits
from surefit.solvers.boosting.choices import choose
from surefit.solvers.boosting.columns import Mixed
from surefit.solvers.boosting.grower import adopt, left_codes, may_split
from surefit.solvers.boosting.histograms import Scale
from surefit.solvers.boosting.nodes import CHOICE, Columns, Limits
from surefit.solvers.boosting.splits import Rules

WAVE = 64  # histograms per pass, which bounds the memory of the client


class Growth:
    """A growing tree on the client: nodes, histograms of the waiting nodes, and histograms requested in advance."""

    def __init__(
        self, columns: Columns, nodes: np.recarray, scale: Scale, rules: Rules, limits: Limits, seed: int
    ) -> None:
        self.columns, self.nodes, self.scale, self.rules, self.limits = columns, nodes, scale, rules, limits
        self.state, self.choices = np.uint64(seed), np.zeros(len(columns.n_bins), dtype=CHOICE).view(np.recarray)
        self.count = self.leaves = 1
        self.pending: list[int] = []
        self.held: dict[int, np.ndarray] = {}
        self.ready: dict[int, np.ndarray] = {}

    def run(self, rows: int) -> Generator[Request, np.ndarray, None]:
        """Yield requests and receive their histograms; the tree is complete when the generator ends."""
        nodes = self.nodes
        nodes.first[0], nodes.last[0], nodes.depth[0], nodes.sets[0] = 0, rows, 0, -1
        nodes.low[0], nodes.high[0], nodes.feature[0] = -np.inf, np.inf, -1
        if not may_split(nodes, 0, self.rules, self.limits):
            return
        histogram = (yield self._request(0, []))[0]
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
                found = yield self._request(before, asked)
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
        known = self.scale, self.rules, self.limits, self.choices, self.state
        self.state = np.uint64(choose(self.columns, self.nodes, node, histogram, *known))
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

    def _request(self, count: int, asked: list[int]) -> Request:
        waiting = [*self.pending, *asked[:1]]  # the children of the node to be split now have no rows yet
        sides = [self._divided(node) if node in self.held else self._divided_now(node) for node in asked]
        to_left = np.array([left <= right for left, right in sides], dtype=bool)
        return Request(self.splits(count, waiting), np.array(asked, dtype=np.int64), to_left)

    def _divided_now(self, node: int) -> tuple[int, int]:
        left = int(self.nodes.left[node])
        return self._rows(left), self._rows(left + 1)

    def splits(self, count: int, waiting: list[int]) -> Splits:
        """Return the first ``count`` nodes for the partitions; ``waiting`` nodes have a split, but no children yet."""
        nodes = self.nodes
        left = np.where(nodes.feature[:count] < 0, -1, nodes.left[:count])
        left[waiting] = -1
        subset = nodes.subset[: count if isinstance(self.columns.kinds, Mixed) else 0].copy()
        return Splits(
            nodes.feature[:count].copy(), nodes.bin[:count].copy(), nodes.missing_left[:count].copy(), left, subset
        )
