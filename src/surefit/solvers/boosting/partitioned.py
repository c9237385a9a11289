"""Gradient boosting for rows in partitions: only histograms and leaf sums are sent; binned columns and scores stay in place.

Rows that are joined into one partition need no histograms from elsewhere: a pass runs one or more rounds. Otherwise, histograms are sums of
integers, so they do not depend on how the rows are divided. Sums of gradients over the rows of a leaf are rounded, so leaf
values and scores depend on the partitions within rounding.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.partitioned import PartValues
from surefit.solvers.boosting.arranged import Request, Splits
from surefit.solvers.boosting.blocks import Round, advance_block, begin_block, rounds_of
from surefit.solvers.boosting.gradient import OVERFLOW, Tree, draws_columns, leaf_values, seeds, tree_of
from surefit.solvers.boosting.histograms import Scale, choose_scale
from surefit.solvers.boosting.losses import renews_leaves
from surefit.solvers.boosting.nodes import Columns, Limits, make_nodes
from surefit.solvers.boosting.quantiles import quantiles
from surefit.solvers.boosting.splits import Rules
from surefit.solvers.boosting.stages import (
    Look,
    Measured,
    advance,
    begin,
    is_finite,
    joined,
    look,
    rescale,
    residuals,
    sum_leaves,
)
from surefit.solvers.boosting.waves import Growth

SPAN = 0.5  # seconds of a pass of several rounds; a limit or an interrupt loses at most these


class PartitionedBooster(ABC):
    """State of a fit, with the scores of all rows stored in the partitions."""

    classes: int  # number of scores per row
    measured: Measured  # losses at the current scores

    def __init__(
        self,
        binned: PartValues,
        loss: Any,
        *,
        columns: Columns,
        rules: Rules,
        limits: Limits,
        rate: float,
        rows: int,
        most: int,
    ) -> None:
        self.binned, self.loss, self.columns, self.rules, self.limits = binned, loss, columns, rules, limits
        self.rate, self.rows, self.most = float(rate), rows, most  # number of rounds that may be added

    @abstractmethod
    def begin(self, start: np.ndarray, trees: list[list[Tree]]) -> None:
        """Compute the scores after the rounds so far."""

    @abstractmethod
    def add_trees(self, draws: list[int]) -> list[Tree]:
        """Add one tree per class, given the seed of each, and update the scores."""

    def step(self, random: np.random.RandomState) -> tuple[list[Tree], float]:
        """Add one tree per class; return the trees and the weighted loss *before* the step."""
        before = self.measured
        if not is_finite(before):
            raise InvalidData(OVERFLOW)
        return self.add_trees(seeds(self.columns, self.classes, random)), before.loss


class BlockBooster(PartitionedBooster):
    """Rows that one worker holds: a task runs the solver of one machine, for several rounds if these are short."""

    def begin(self, start: np.ndarray, trees: list[list[Tree]]) -> None:
        """Compute the scores after the rounds so far."""
        self.classes, self.ahead, self.seconds = len(start), deque[Round](), math.inf
        work = (start, trees, self.loss)
        self.stage, (first,) = self.binned.derive_and_reduce(begin_block, work, rounds_of, ())
        self.measured = first.measured

    def add_trees(self, draws: list[int]) -> list[Tree]:
        """Add one tree per class, by a pass unless an earlier one went this far."""
        if not self.ahead:
            self._advance(draws)
        self.measured, trees = self.ahead.popleft()
        self.most -= 1
        return trees

    def _advance(self, draws: list[int]) -> None:
        """Run rounds in one pass: as many as take ``SPAN`` seconds by the last pass, after a pass of one round."""
        count = max(1, min(int(SPAN / self.seconds), self.most)) if not draws_columns(self.columns) else 1
        how = {"rules": self.rules, "limits": self.limits, "rate": self.rate}
        work, began = (self.loss, self.columns, how, [draws] * count), time.monotonic()
        self.stage, rounds = self.binned.derive_and_reduce(advance_block, work, rounds_of, (), beside=(self.stage,))
        self.ahead, self.seconds = deque(rounds), max(time.monotonic() - began, 1e-3) / count


class WaveBooster(PartitionedBooster):
    """Rows on several workers: trees grow by passes that add up histograms."""

    def begin(self, start: np.ndarray, trees: list[list[Tree]]) -> None:
        """Compute the scores after the rounds so far."""
        self.classes = len(start)
        most = max(1, self.rows // max(self.rules.min_rows, 1))
        most = min(most, self.limits.max_leaves or most, 2 ** min(self.limits.max_depth, 40))
        self.nodes = [make_nodes(2 * most + 1) for _ in start]
        self.scale: Scale | None = None  # of the gradients in the partitions
        self._move(self.binned.derive_and_reduce(begin, (start, trees, self.loss), look, ({},), joined), None)

    def _move(self, found: tuple[PartValues, Look], scale: Scale | None) -> None:
        (self.stage, (self.measured, self.roots)), self.scale = found, scale

    def add_trees(self, draws: list[int]) -> list[Tree]:
        """Add one tree per class: about one pass per level, one for the leaves, and one for the scores."""
        scale = choose_scale(self.rows, self.measured.steepest, self.measured.sharpest)
        growths = [
            Growth(self.columns, nodes, scale, self.rules, self.limits, seed)
            for nodes, seed in zip(self.nodes, draws, strict=True)
        ]
        self._grow(growths, scale)
        splits = [growth.splits(growth.count, []) for growth in growths]
        trees = self._finish([tree_of(g.nodes, g.count, np.zeros(g.count)) for g in growths], splits)
        # Gradients are rounded at the current scale, which the next round keeps unless they pass a power of two.
        work = (self.loss, scale, splits, [tree.value for tree in trees])
        moved = self.binned.derive_and_reduce(advance, work, look, (self._all_rows(),), joined, beside=(self.stage,))
        self._move(moved, scale)  # an interrupted step leaves the previous stage
        return trees

    def _all_rows(self) -> dict[int, Request]:
        """Return requests for the histograms of all rows, which the next trees begin with."""
        nothing = np.zeros(0, dtype=np.int64)
        empty = Splits(nothing, nothing, nothing.astype(bool), nothing, np.zeros((0, 8), dtype=np.uint32))
        return {k: Request(empty, nothing, nothing.astype(bool)) for k in range(self.classes)}

    def _grow(self, growths: list[Growth], scale: Scale) -> None:
        """Grow the trees of all classes together, so that one pass serves all of them."""
        running = {k: growth.run(self.rows) for k, growth in enumerate(growths)}
        asked = {k: request for k, run in running.items() if (request := next(run, None)) is not None}
        found = self.roots
        if asked and scale != self.scale:
            work, first = (self.loss, scale), (self._all_rows(),)
            stage = (self.stage,)
            self._move(self.binned.derive_and_reduce(rescale, work, look, first, joined, beside=stage), scale)
            found = self.roots
        while asked:
            further = {}
            for k in asked:
                try:
                    further[k] = running[k].send(found[k])
                except StopIteration:
                    continue
            asked = further
            if asked:
                found = self.binned.map_reduce(look, asked, combine=joined, beside=(self.stage,)).found

    def _finish(self, trees: list[Tree], splits: list[Splits]) -> list[Tree]:
        """Set the values of the leaves from the unrounded gradients."""
        quantile = renews_leaves(self.loss)
        if quantile is not None:
            (tree,) = trees
            best = quantiles(self.binned, residuals, len(tree.feature), quantile, splits[0], beside=(self.stage,))
            best = np.where(tree.feature < 0, best, 0.0)
            return [tree._replace(value=self.rate * np.clip(best, tree.low, tree.high) * (tree.feature < 0))]
        sums = self.binned.map_reduce(sum_leaves, self.loss, splits, beside=(self.stage,))
        for tree, own in zip(trees, sums, strict=True):
            leaf_values(tree.low, tree.high, own, self.rules.l2, self.rate, tree.value)
        return trees
