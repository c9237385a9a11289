"""Gradient boosting for rows in partitions: only histograms and leaf sums are sent; binned columns and scores stay in place.

Histograms are sums of integers, so they do not depend on how the rows are divided. Sums of gradients over the rows of a
leaf are rounded, so leaf values and scores depend on the partitions within rounding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartValues, row_draws, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.boosting.binning import Bins, encode
from surefit.solvers.boosting.gradient import Tree, add_scores, leaf_sums, leaf_values, tree_of
from surefit.solvers.boosting.grower import route_all
from surefit.solvers.boosting.histograms import Scale, choose_scale, quantize
from surefit.solvers.boosting.losses import gradients, renews_leaves
from surefit.solvers.boosting.nodes import Columns, Limits, make_nodes
from surefit.solvers.boosting.quantiles import quantiles
from surefit.solvers.boosting.splits import Rules
from surefit.solvers.boosting.waves import Frontier, Growth, histograms


class Reading(NamedTuple):
    """Settings by which a partition reads its rows: classes and their weights, and the fraction of rows held out."""

    classes: list[Any] | None
    class_weights: list[float] | None
    signed: bool  # labels -1 and 1
    seed: int
    share: float  # 0: no row is held out

    def targets(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """Return targets and weights, with class weights."""
        assert part.y is not None
        y, s = read_target(part.y), weights_in(part)
        if self.classes is None:
            return np.asarray(y, dtype=np.float64), s
        codes = class_codes(y, self.classes)
        if self.class_weights is not None:
            s = s * np.asarray(self.class_weights)[codes]
        return 2.0 * codes - 1.0 if self.signed else codes.astype(np.float64), s

    def split(self, part: Part, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the training rows and the held-out rows; the split does not depend on how the rows are divided."""
        used = s > 0
        held = used & (row_draws(part.start, len(s), self.seed)[:, 0] < self.share) if self.share else ~used & used
        return np.flatnonzero(used & ~held), np.flatnonzero(held)


class Rows(NamedTuple):
    """Binned rows with targets and weights."""

    words: np.ndarray
    by_row: np.ndarray
    y: np.ndarray
    s: np.ndarray


class Binned(NamedTuple):
    """The training rows and the held-out rows of a partition."""

    learn: Rows
    held: Rows


def bin_rows(part: Part, reading: Reading, bins: Bins) -> Binned:
    """Return the binned rows of a partition."""
    y, s = reading.targets(part)

    def chosen(rows: np.ndarray) -> Rows:
        words = encode(part.X if len(rows) == len(s) else part.X[rows], bins, 1)
        return Rows(words, np.ascontiguousarray(words.T), y[rows], s[rows])

    return Binned(*map(chosen, reading.split(part, s)))


class Scores(NamedTuple):
    """Scores of the rows of a partition, shape (scores, rows)."""

    learn: np.ndarray
    held: np.ndarray


class Measured(NamedTuple):
    """Weighted losses, and bounds on the derivatives and curvatures of the training rows."""

    loss: float
    steepest: float
    sharpest: float
    held_loss: float


class PartitionedBooster:
    """State of a fit, with the scores of all rows stored in the partitions."""

    def __init__(
        self,
        binned: PartValues,
        start: np.ndarray,
        trees: list[list[Tree]],
        loss: Any,
        *,
        columns: Columns,
        rules: Rules,
        limits: Limits,
        rate: float,
        rows: int,
    ) -> None:
        self.binned, self.loss, self.columns, self.rules, self.limits = binned, loss, columns, rules, limits
        self.rate, self.rows = float(rate), rows
        most = max(1, rows // max(rules.min_rows, 1))
        most = min(most, limits.max_leaves or most, 2 ** min(limits.max_depth, 40))
        self.nodes = [make_nodes(2 * most + 1) for _ in start]
        self.z = binned.derive(start_scores, start, trees)
        self.measured = self._measure(self.z)

    def _measure(self, z: PartValues) -> Measured:
        return self.binned.map_reduce(measure, self.loss, beside=(z,), combine=_together)

    def step(self, random: np.random.RandomState) -> tuple[list[Tree], float]:
        """Add one tree per class; return the trees and the weighted loss *before* the step."""
        before = self.measured
        if not np.all(np.isfinite(before[:3])):
            raise InvalidData("Gradient boosting: the loss overflowed; lower learning_rate, or scale the targets.")
        scale = choose_scale(self.rows, before.steepest, before.sharpest)
        drawn = self.columns.max_features < len(self.columns.n_bins)
        seeds = [int(random.randint(2**31 - 1)) if drawn else 1 for _ in self.nodes]
        growths = [
            Growth(self.columns, nodes, scale, self.rules, self.limits, seed)
            for nodes, seed in zip(self.nodes, seeds, strict=True)
        ]
        self._grow(growths, scale)
        trees = self._finish([tree_of(g.nodes, g.count, np.zeros(g.count)) for g in growths])
        z = self.binned.derive(move, trees, beside=(self.z,))
        self.measured, self.z = self._measure(z), z  # an interrupted step leaves the previous scores
        return trees, before.loss

    def _grow(self, growths: list[Growth], scale: Scale) -> None:
        """Grow the trees of all classes together, so that one pass serves all of them."""
        running = {k: growth.run(self.rows) for k, growth in enumerate(growths)}
        asked = {k: frontier for k, run in running.items() if (frontier := next(run, None)) is not None}
        while asked:
            found = self.binned.map_reduce(count_rows, self.loss, scale, asked, beside=(self.z,))
            further = {}
            for k in asked:
                try:
                    further[k] = running[k].send(found[k])
                except StopIteration:
                    continue
            asked = further

    def _finish(self, trees: list[Tree]) -> list[Tree]:
        """Set the values of the leaves from the unrounded gradients."""
        quantile = renews_leaves(self.loss)
        if quantile is not None:
            (tree,) = trees
            best = quantiles(self.binned, residuals, len(tree.feature), quantile, tree, beside=(self.z,))
            best = np.where(tree.feature < 0, best, 0.0)
            return [tree._replace(value=self.rate * np.clip(best, tree.low, tree.high) * (tree.feature < 0))]
        sums = self.binned.map_reduce(sum_leaves, self.loss, trees, beside=(self.z,))
        for tree, own in zip(trees, sums, strict=True):
            leaf_values(tree, own, self.rules.l2, self.rate, tree.value)
        return trees


def start_scores(binned: Binned, start: np.ndarray, trees: list[list[Tree]]) -> Scores:
    """Return the scores of a partition after the rounds so far."""
    tiles = (np.tile(start[:, None], (1, len(rows.y))) for rows in binned)
    scores = Scores(*tiles)
    for round_ in trees:
        scores = move(binned, round_, scores)
    return scores


def move(binned: Binned, trees: list[Tree], scores: Scores) -> Scores:
    """Return the scores of a partition after one more round."""
    moved = Scores(*(z.copy() for z in scores))
    for rows, z in zip(binned, moved, strict=True):
        for k, tree in enumerate(trees):
            add_scores(rows.words, [tree], z[k], 1)
    return moved


def measure(binned: Binned, loss: Any, scores: Scores) -> Measured:
    """Return the losses of a partition and bounds on its derivatives and curvatures."""
    found = [
        gradients(loss, rows.y, z, rows.s, np.empty_like(z), np.empty_like(z)) if len(rows.y) else (0.0, 0.0, 0.0)
        for rows, z in zip(binned, scores, strict=True)
    ]
    (loss_sum, steepest, sharpest), held = found
    return Measured(float(loss_sum), float(steepest), float(sharpest), float(held[0]))


def _together(a: Measured, b: Measured) -> Measured:
    largest = max(a.steepest, b.steepest), max(a.sharpest, b.sharpest)
    if math.isnan(a.steepest + b.steepest + a.sharpest + b.sharpest):
        largest = math.nan, math.nan  # max may return either of NaN and a number
    return Measured(a.loss + b.loss, *largest, a.held_loss + b.held_loss)


def _gradients(binned: Binned, loss: Any, scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    rows, z = binned.learn, scores.learn
    g, h = np.empty_like(z), np.empty_like(z)
    if len(rows.y):
        gradients(loss, rows.y, z, rows.s, g, h)
    return g, h


def count_rows(
    binned: Binned, loss: Any, scale: Scale, asked: dict[int, Frontier], scores: Scores
) -> dict[int, np.ndarray]:
    """Return the histograms over the rows of a partition that the frontiers of the trees request."""
    g, h = _gradients(binned, loss, scores)
    cells, found = np.empty((len(binned.learn.y), 2), dtype=np.int64), {}
    for k, frontier in asked.items():
        quantize(g[k], h[k], scale.gradient, scale.curvature, scale.count_bits, cells)
        found[k] = histograms(binned.learn.words, binned.learn.by_row, cells, frontier)
    return found


def sum_leaves(binned: Binned, loss: Any, trees: list[Tree], scores: Scores) -> tuple[np.ndarray, ...]:
    """Return the sums of gradients and curvatures over the rows of a partition in each leaf of each tree."""
    g, h = _gradients(binned, loss, scores)
    return tuple(
        leaf_sums(route_all(binned.learn.words, tree), g[k], h[k], len(tree.feature)) for k, tree in enumerate(trees)
    )


def residuals(binned: Binned, tree: Tree, scores: Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return residuals, weights and leaves of the rows of a partition."""
    rows = binned.learn
    return rows.y - scores.learn[0], rows.s, route_all(rows.words, tree)


def targets(binned: Binned) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return targets and weights of the rows of a partition; all are in one group."""
    rows = binned.learn
    return rows.y, rows.s, np.zeros(len(rows.y), dtype=np.int64)
