"""Growing the trees of a forest, each from a seed of its own, in any number of threads."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.jit import compiled
from surefit.core.threads import map_blocks
from surefit.ensembles.bootstrap import Draws
from surefit.solvers import trees as solver
from surefit.solvers.boosting.binning import find_bins
from surefit.solvers.forest import MOST_WEIGHT, grow_pair
from surefit.solvers.trees import FlatTree, Rules
from surefit.solvers.trees.pruning import weakest_links

ROWS = 1024  # predicted at a time
PACKED = ("feature", "threshold", "left", "right", "missing_left", "value")


class Sample(NamedTuple):
    """Training data of a forest."""

    X: np.ndarray
    y: np.ndarray  # class codes or real targets
    weights: np.ndarray | None  # of the rows, as given
    class_weights: np.ndarray | None  # one a class, on top
    n_classes: int  # 0: regression


class Grower:
    """Grows one tree a seed."""

    def __init__(self, estimator, sample: Sample):
        self.estimator, self.sample = estimator, sample
        self.values = np.ascontiguousarray(np.asarray(sample.X, dtype=np.float64).T)
        d = len(self.values)
        self.bins = (
            None
            if estimator.max_bins is None
            else _binned(self.values, sample.weights, estimator.max_bins, estimator.n_jobs)
        )
        self.draws = Draws(sample.X, sample.y, sample.weights, estimator.max_samples) if estimator.bootstrap else None
        self.columns = n_columns(estimator.max_features, d)
        self.by_row = self._rows_of_bins()
        self.monotone = None if estimator.monotonic_cst is None else np.asarray(estimator.monotonic_cst, dtype=np.int8)

    def _rows_of_bins(self) -> np.ndarray | None:
        """The bins row by row, if the fast grower can be used: two classes, Gini, nothing missing, plain rules."""
        e, sample = self.estimator, self.sample
        plain = (
            e.monotonic_cst is None and e.max_leaf_nodes is None and isinstance(e.min_samples_leaf, numbers.Integral)
        )
        plain = plain and e.min_samples_leaf == 1 and e.min_weight_fraction_leaf == 0 and e.min_impurity_decrease == 0
        if self.bins is None or sample.n_classes != 2 or e.criterion != "gini" or not plain:
            return None
        if sample.class_weights is not None or np.isnan(self.values).any():
            return None
        weights = sample.weights
        if self.draws is None and weights is not None and not np.all(weights == np.rint(weights)):
            return None
        total = self.draws.count if self.draws is not None else len(sample.y) if weights is None else np.sum(weights)
        return np.ascontiguousarray(self.bins.codes.T) if total <= MOST_WEIGHT else None

    def weights_of(self, seed: int) -> np.ndarray | None:
        """Weight of each row in the tree of this seed, without class weights."""
        if self.draws is not None:
            return self.draws.counts(seed).astype(np.float64)
        return self.sample.weights

    def subset_of(self, seed: int) -> np.ndarray | None:
        """Columns of the tree of this seed, if each tree has its own."""
        if self.estimator.subset == "split":
            return None
        random = np.random.RandomState(seed)
        return np.sort(random.choice(len(self.values), self.columns, replace=False))

    def grow(self, seed: int) -> FlatTree:
        """Grow the tree of a seed."""
        tree = self._grow_any(seed) if self.by_row is None else self._grow_pair(seed)
        if self.estimator.ccp_alpha == 0:
            return tree
        path = weakest_links(tree, tree.weight * tree.impurity / tree.weight[0])
        return solver.collapse(tree, path.collapse_at <= float(self.estimator.ccp_alpha))

    def _grow_pair(self, seed: int) -> FlatTree:
        """Grow the tree of a seed by the fast grower."""
        weights, subset = self.weights_of(seed), self.subset_of(seed)
        counts = np.ones(len(self.sample.y), dtype=np.int64) if weights is None else weights.astype(np.int64)
        rules = self._rules(seed, float(np.sum(counts)), int(np.count_nonzero(counts)), subset)
        assert self.bins is not None
        return grow_pair(
            self.by_row,
            self.bins.edges,
            self.sample.y,
            counts,
            max_depth=rules.max_depth,
            min_samples_split=rules.min_samples_split,
            columns=np.arange(len(self.values)) if subset is None else subset,
            max_features=self.columns,
            seed=int(seed),
        )

    def _grow_any(self, seed: int) -> FlatTree:
        """Grow the tree of a seed, whatever the target and the rules."""
        sample, e = self.sample, self.estimator
        weights = self.weights_of(seed)
        rows = None if weights is None else np.flatnonzero(weights)
        if sample.class_weights is not None:
            factor = sample.class_weights[sample.y]
            weights = factor if weights is None else weights * factor
            rows = np.flatnonzero(weights)
        y, centre = sample.y, 0.0
        if sample.n_classes:
            target = solver.class_target(y, sample.n_classes, e.criterion, weights)
        else:
            centre = float(np.average(y, weights=weights)) if e.criterion in ("squared_error", "friedman_mse") else 0.0
            target = solver.real_target(y - centre, "squared_error" if centre else e.criterion, weights)
        total = float(len(y)) if weights is None else float(np.sum(weights))
        subset = self.subset_of(seed)
        rules = self._rules(seed, total, len(y) if rows is None else len(rows), subset)
        options: dict[str, Any] = {"rows": rows, "monotone": _part(self.monotone, subset)}
        if self.bins is None:
            tree = solver.grow_exact(_part(self.values, subset), target, rules, **options)
        else:
            bins = (
                self.bins
                if subset is None
                else self.bins._replace(
                    codes=self.bins.codes[subset], edges=self.bins.edges[subset], counts=self.bins.counts[subset]
                )
            )
            tree = solver.grow_binned(bins, target, rules, **options)
        if subset is not None:
            tree = tree._replace(
                feature=np.where(tree.feature >= 0, subset[tree.feature], tree.feature).astype(np.int32)
            )
        return tree._replace(value=tree.value + centre) if centre else tree

    def _rules(self, seed: int, weight: float, n: int, subset) -> Rules:
        e = self.estimator
        leaf, split = e.min_samples_leaf, e.min_samples_split
        leaf = leaf if isinstance(leaf, numbers.Integral) else math.ceil(leaf * n)
        split = split if isinstance(split, numbers.Integral) else max(2, math.ceil(split * n))
        return Rules(
            max_depth=2**31 - 1 if e.max_depth is None else int(e.max_depth),
            min_samples_split=max(int(split), 2 * int(leaf)),
            min_samples_leaf=int(leaf),
            min_weight_leaf=float(e.min_weight_fraction_leaf) * weight,
            max_leaf_nodes=0 if e.max_leaf_nodes is None else int(e.max_leaf_nodes),
            min_impurity_decrease=float(e.min_impurity_decrease),
            max_features=self.columns if subset is None else 2**31 - 1,
            seed=int(seed),
        )

    def grow_all(self, seeds: np.ndarray, budget: Budget) -> list[FlatTree]:
        """Grow the trees of all seeds; a spent budget ends it after the trees that are under way."""
        found = map_blocks(
            lambda start, stop: None if budget.spent(start) and start else self.grow(int(seeds[start])),
            len(seeds),
            1,
            self.estimator.n_jobs,
        )
        trees = []
        for tree in found:
            if tree is None:  # later ones would be a choice by speed
                break
            trees.append(tree)
        return trees


def n_columns(max_features: Any, d: int) -> int:
    """Number of columns that ``max_features`` means."""
    if max_features is None:
        return d
    if isinstance(max_features, str):
        return max(1, int(math.sqrt(d) if max_features == "sqrt" else math.log2(d)))
    if isinstance(max_features, numbers.Integral):
        return min(int(max_features), d)
    return max(1, int(max_features * d))


def _binned(values: np.ndarray, weights: np.ndarray | None, max_bins: int, n_jobs) -> solver.Bins:
    """Bin the columns, at quantiles of the weighted rows where values are many."""
    seen = values if weights is None else values[:, weights > 0]
    kept = None if weights is None else weights[weights > 0]
    cuts = find_bins(seen.T, kept, max_bins, np.zeros(len(values), dtype=bool), n_jobs)
    edges = [line[: count - 1] for line, count in zip(cuts.cuts, cuts.n_bins, strict=True)]
    parts = map_blocks(
        lambda start, stop: solver.bin_columns(values[start:stop], max_bins, edges=edges[start:stop]),
        len(values),
        1,
        n_jobs,
    )
    codes, table, counts = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "edges", "counts")
    )
    return solver.Bins(codes, table, counts)


def _part(table, subset):
    return table if table is None or subset is None else np.ascontiguousarray(table[subset])


def sum_values(X: np.ndarray, trees: list[FlatTree], n_values: int, n_jobs=None) -> np.ndarray:
    """Sum over trees of the value of each row's leaf, (rows, values): rows in blocks, trees in order, the same bits for any n_jobs."""
    total = np.zeros((X.shape[0], n_values))

    def work(start: int, stop: int) -> None:
        for tree in trees:
            add_values(X[start:stop], *(getattr(tree, name) for name in PACKED), total[start:stop])

    map_blocks(work, X.shape[0], ROWS, n_jobs)
    return total


@compiled
def leaf_of(x, feature, threshold, left, right, missing_left):
    """Leaf of a row."""
    node = 0
    while feature[node] >= 0:
        v = x[feature[node]]
        goes_left = v <= threshold[node] or (v != v and missing_left[node])
        node = left[node] if goes_left else right[node]
    return node


@compiled
def add_values(X, feature, threshold, left, right, missing_left, value, total):
    """Add the values of the rows' leaves."""
    for i in range(X.shape[0]):
        node = leaf_of(X[i], feature, threshold, left, right, missing_left)
        for k in range(value.shape[1]):
            total[i, k] += value[node, k]


@compiled
def leaves_of(X, rows, feature, threshold, left, right, missing_left):
    """Leaves of some rows."""
    found = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        found[i] = leaf_of(X[rows[i]], feature, threshold, left, right, missing_left)
    return found
