"""Gradient boosting: each round is a Newton step with one tree per class."""

from __future__ import annotations

from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.jit import compiled
from surefit.core.threads import count_threads, map_blocks
from surefit.solvers.boosting.columns import SomeColumns
from surefit.solvers.boosting.grower import grow, route
from surefit.solvers.boosting.histograms import Scale, choose_scale
from surefit.solvers.boosting.leaf_tables import add_from_tables, tables_of
from surefit.solvers.boosting.losses import gradients, renews_leaves, weighted_quantile
from surefit.solvers.boosting.nodes import Columns, Derivatives, Job, Limits, make_nodes, make_workspace
from surefit.solvers.boosting.splits import Rules
from surefit.solvers.boosting.tasks import OVER
from surefit.solvers.boosting.team import assist, make_board

LARGE = 20_000  # number of rows from which threads are faster
MOST_THREADS = 16  # of one tree: each has a histogram, which is added to that of the node
ROWS = 2048  # rows per block of predictions, so that scores stay in the cache
OVERFLOW = "Gradient boosting: the loss overflowed; lower learning_rate, or scale the targets."


class Tree(NamedTuple):
    """Fitted tree: the arrays needed for prediction and by the checker."""

    feature: np.ndarray  # -1: a leaf
    bin: np.ndarray  # largest code that goes left; -1: see subset
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    subset: np.ndarray
    value: np.ndarray  # value of every node, times the learning rate
    rows: np.ndarray  # number of rows in every node
    gain: np.ndarray
    depth: np.ndarray
    low: np.ndarray  # limits of the value from monotonicity constraints, before the learning rate
    high: np.ndarray

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))


class Booster:
    """State of a fit: scores of the training rows, and memory shared by all trees."""

    def __init__(
        self, columns: Columns, y, s, z: np.ndarray, loss, *, rules: Rules, limits: Limits, rate: float, n_jobs=None
    ):
        n = len(y)
        self.columns, self.y, self.s, self.z, self.loss = columns, y, s, z, loss
        self.rules, self.limits, self.rate = rules, limits, float(rate)
        least = max(rules.min_rows, 1)
        leaves = max(1, min(limits.max_leaves or n // least, n // least))
        slots = leaves + 1 if limits.max_leaves else int(n).bit_length() + 3
        self.nodes = make_nodes(2 * leaves + 1)
        alone = n < LARGE or not hasattr(grow, "py_func")  # without compilation, threads would wait for the same lock
        self.threads = 1 if alone else min(count_threads(n_jobs), MOST_THREADS)
        self.space = make_workspace(n, len(columns.n_bins), slots + self.threads - 1)
        self.g, self.h = np.empty_like(z), np.empty_like(z)

    def step(self, random: np.random.RandomState) -> tuple[list[Tree], float]:
        """Add one tree per class; return the trees and the weighted loss *before* the step."""
        return self.add_trees(seeds(self.columns, len(self.z), random))

    def add_trees(self, draws: list[int]) -> tuple[list[Tree], float]:
        """Add one tree per class, given the seed of each; return the trees and the weighted loss *before* the step."""
        total, steepest, sharpest = gradients(self.loss, self.y, self.z, self.s, self.g, self.h, self.threads)
        if not (np.isfinite(total) and np.isfinite(steepest) and np.isfinite(sharpest)):
            raise InvalidData(OVERFLOW)
        scale = choose_scale(len(self.y), steepest, sharpest)
        trees = []
        for k, seed in enumerate(draws):
            trees.append(self._finish(k, self._grow(k, scale, seed)))
        return trees, total

    def _grow(self, k: int, scale: Scale, seed: int) -> int:
        """Grow the tree of a class and return its number of nodes; it does not depend on the number of threads."""
        rate = self.rate if renews_leaves(self.loss) is None else 0.0
        own, board = Derivatives(self.g[k], self.h[k], self.z[k]), make_board(self.threads - 1)
        job = Job(self.columns, scale, self.rules, self.limits, rate, self.nodes, self.space, own, board)
        assistants = [Thread(target=assist, args=(job, me)) for me in range(self.threads - 1)]
        for thread in assistants:
            thread.start()
        try:
            return grow(job, seed)
        finally:
            for thread in assistants:
                board[OVER] = 1
                thread.join()

    def _finish(self, k: int, count: int) -> Tree:
        """Return the tree; leaves that contain quantiles get their values here."""
        nodes = self.nodes.view(np.ndarray)[:count]
        quantile = renews_leaves(self.loss)
        if quantile is not None:
            nodes["value"] = 0.0
            for place in np.flatnonzero(nodes["feature"] < 0):
                leaf = nodes[place]
                own = self.space.rows[leaf["first"] : leaf["last"]]
                best = weighted_quantile(self.y[own] - self.z[k, own], self.s[own], quantile)
                leaf["value"] = self.rate * min(max(best, leaf["low"]), leaf["high"])
                self.z[k, own] += leaf["value"]
        return tree_of(self.nodes, count, nodes["value"].copy())


def draws_columns(columns: Columns) -> bool:
    """Whether splits consider columns drawn at random instead of all columns."""
    considered = columns.considered
    return isinstance(considered, SomeColumns) and bool(considered.max_features < len(columns.n_bins))


def seeds(columns: Columns, classes: int, random: np.random.RandomState) -> list[int]:
    """Return the seeds of the columns that the trees of a round draw; nothing is drawn if every split considers all columns."""
    drawn = draws_columns(columns)
    return [int(random.randint(2**31 - 1)) if drawn else 1 for _ in range(classes)]


def tree_of(nodes: np.recarray, count: int, values: np.ndarray) -> Tree:
    """Return a copy of the first ``count`` nodes, with their values."""
    own = nodes.view(np.ndarray)[:count]  # the fields of a plain array are read faster
    return Tree(
        own["feature"].copy(),
        own["bin"].copy(),
        own["missing_left"].copy(),
        own["left"].copy(),
        own["right"].copy(),
        own["subset"].copy(),
        values,
        own["last"] - own["first"],
        own["gain"].copy(),
        own["depth"].copy(),
        own["low"].copy(),
        own["high"].copy(),
    )


def leaf_values(
    low: np.ndarray, high: np.ndarray, sums: np.ndarray, l2: float, rate: float, values: np.ndarray
) -> None:
    """Write the Newton step of every leaf, within its limits, times the learning rate."""
    count = len(sums)
    steps = -sums[:, 0] / (sums[:, 1] + l2 + 1e-15)
    values[:] = rate * np.minimum(np.maximum(steps, low[:count]), high[:count])


@compiled
def leaf_sums(leaf_of, g, h, count):
    """Return the sums of gradients and curvatures over the rows of every leaf."""
    sums = np.zeros((count, 2))
    for i in range(len(g)):
        leaf = leaf_of[i]
        sums[leaf, 0] += g[i]
        sums[leaf, 1] += h[i]
    return sums


def add_scores(words: np.ndarray, trees: list[Tree], z: np.ndarray, n_jobs: Any = None) -> None:
    """Add the predictions of the trees for binned rows to the scores ``z``, in the order of the trees."""
    tables = tables_of(trees, len(z))

    def work(start: int, stop: int) -> None:
        if tables is not None:
            for group in tables:
                add_from_tables(words, group, start, stop, z)
        else:
            for tree in trees:
                _add(words, tree, start, stop, z)

    map_blocks(work, len(z), ROWS, n_jobs)


@compiled
def _add(words, tree, start, stop, z):
    for i in range(start, stop):
        z[i] += tree.value[route(words, tree, i)]
