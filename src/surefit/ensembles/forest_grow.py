"""Growing of the trees of a forest from one seed per tree, with any number of threads."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.blocks import dense_columns, dense_rows, require_memory
from surefit.core.budget import Budget
from surefit.core.jit import compiled
from surefit.core.outputs import row_factors
from surefit.core.threads import map_blocks
from surefit.ensembles.bootstrap import Draws
from surefit.problems.forests import n_columns
from surefit.problems.trees import stopping_rules
from surefit.solvers import trees as solver
from surefit.solvers.boosting.binning import find_bins
from surefit.solvers.trees import FlatTree, Rules
from surefit.solvers.trees.binned import MISSING
from surefit.solvers.trees.descend import add_leaf_values, pack, packed_leaves, worth_packing
from surefit.solvers.trees.forest import MOST_WEIGHT, grow_pair
from surefit.solvers.trees.pruning import weakest_links
from surefit.trees.columns import as_columns, as_rows, codes_of

ROWS = 8192  # rows per block of predictions, enough to keep a tree in the cache
COLUMNS = 8  # columns per block of bins, one cache line per row
ARRAYS = ("feature", "threshold", "left", "right", "missing_left", "values")


class Sample(NamedTuple):
    """Training data of a forest."""

    X: Any  # dense or CSR
    y: np.ndarray  # class codes or real targets, with one column per output if there are several
    weights: np.ndarray | None  # weights of the rows, as given
    class_weights: (
        np.ndarray | str | None
    )  # additional factors, one per class; with "balanced_subsample" computed from the draws of each tree
    n_classes: Any  # 0 for regression; a list for several outputs
    categories: dict[int, np.ndarray] = {}  # values of each categorical column


class Grower:
    """Grows one tree per seed."""

    def __init__(self, estimator, sample: Sample):
        self.estimator, self.sample = estimator, sample
        self.d = sample.X.shape[1]
        self.categories = np.zeros(self.d, dtype=np.int64)  # number of bins of each column
        for j, known in sample.categories.items():
            self.categories[j] = max(len(known), 1)
        self.values, self.bins = _columns(estimator, sample, self.categories)
        self.draws = Draws(sample.X, sample.y, sample.weights, estimator.max_samples) if estimator.bootstrap else None
        self.columns = n_columns(estimator.max_features, self.d)
        self.by_row = self._rows_of_bins()
        self.monotone = None if estimator.monotonic_cst is None else np.asarray(estimator.monotonic_cst, dtype=np.int8)

    def _rows_of_bins(self) -> np.ndarray | None:
        """Return the bins by rows if a fast grower applies: no categories, missing values or limits that it does not know."""
        e, sample = self.estimator, self.sample
        if self.bins is None or sample.categories or e.monotonic_cst is not None or e.max_leaf_nodes is not None:
            return None
        if self.bins.codes.max() == MISSING:
            return None
        applies = self._has_sums() if e._random_cuts else self._has_pairs()
        return np.ascontiguousarray(self.bins.codes.T) if applies else None

    def _has_sums(self) -> bool:
        """Return whether the grower for random cuts applies: one target, whose impurities follow from sums."""
        return self.sample.y.ndim == 1 and self.estimator.criterion != "absolute_error"

    def _has_pairs(self) -> bool:
        """Return whether the grower for two classes applies: Gini, integer weights and default rules."""
        e, sample = self.estimator, self.sample
        plain = isinstance(e.min_samples_leaf, numbers.Integral) and e.min_samples_leaf == 1
        plain = plain and e.min_weight_fraction_leaf == 0 and e.min_impurity_decrease == 0
        if sample.n_classes != 2 or e.criterion != "gini" or sample.class_weights is not None or not plain:
            return False
        weights = sample.weights
        if self.draws is None and weights is not None and not np.all(weights == np.rint(weights)):
            return False
        total = self.draws.count if self.draws is not None else len(sample.y) if weights is None else np.sum(weights)
        return bool(total <= MOST_WEIGHT)

    def weights_of(self, seed: int) -> np.ndarray | None:
        """Return the weight of each row in the tree of this seed, without class weights."""
        if self.draws is not None:
            return self.draws.counts(seed).astype(np.float64)
        return self.sample.weights

    def subset_of(self, seed: int) -> np.ndarray | None:
        """Return the columns of the tree of this seed if each tree draws its own columns."""
        return columns_of(self.estimator, seed, self.d)

    def grow(self, seed: int) -> FlatTree:
        """Grow the tree of a seed."""
        pairs = self.by_row is not None and not self.estimator._random_cuts
        return pruned(self.estimator, self._grow_pair(seed) if pairs else self._grow_any(seed))

    def _grow_pair(self, seed: int) -> FlatTree:
        """Grow the tree of a seed by the fast grower."""
        weights, subset = self.weights_of(seed), self.subset_of(seed)
        counts = np.ones(len(self.sample.y), dtype=np.int64) if weights is None else weights.astype(np.int64)
        rules = growth_rules(self.estimator, seed, int(np.count_nonzero(counts)), float(np.sum(counts)), self.d)
        assert self.bins is not None
        return grow_pair(
            self.by_row,
            self.bins.edges,
            self.sample.y,
            counts,
            max_depth=rules.max_depth,
            min_samples_split=rules.min_samples_split,
            columns=np.arange(self.d) if subset is None else subset,
            max_features=self.columns,
            seed=int(seed),
        )

    def _grow_any(self, seed: int) -> FlatTree:
        """Grow the tree of a seed, for any target and rules."""
        sample, e = self.sample, self.estimator
        weights = self.weights_of(seed)
        rows = None if weights is None else np.flatnonzero(weights)
        if sample.class_weights is not None:
            factor = row_factors(self._factors(weights), sample.y, sample.n_classes)
            weights = factor if weights is None else weights * factor
            rows = np.flatnonzero(weights)
        y: Any = sample.y
        center: Any = 0.0
        if sample.n_classes:
            target = solver.class_target(y, sample.n_classes, e.criterion, weights)
        else:
            center = np.average(y, axis=0, weights=weights) if e.criterion == "squared_error" else 0.0
            target = solver.real_target(y - center, e.criterion, weights)
        total = float(len(y)) if weights is None else float(np.sum(weights))
        subset = self.subset_of(seed)
        rules = growth_rules(e, seed, len(y) if rows is None else len(rows), total, self.d)
        options: dict[str, Any] = {"rows": rows, "monotone": _part(self.monotone, subset)}
        options["categories"] = _part(self.categories, subset)
        if self.bins is None:
            tree = solver.grow_exact(_part(self.values, subset), target, rules, **options)
        elif self.by_row is not None:
            by_row = self.by_row if subset is None else np.ascontiguousarray(self.by_row[:, subset])
            tree = solver.grow_random(by_row, _part(self.bins.edges, subset), target, rules, rows=rows)
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
                feature=np.where(tree.feature >= 0, subset[np.maximum(tree.feature, 0)], tree.feature).astype(np.int32)
            )
        return tree._replace(values=tree.values + center) if np.any(center) else tree

    def _factors(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the factor of each class, for the draws of a tree."""
        given, K = self.sample.class_weights, self.sample.n_classes
        if not isinstance(given, str):
            assert given is not None
            return given
        if self.sample.y.ndim == 1:
            return balanced_factors(np.bincount(self.sample.y, weights=weights, minlength=K))
        columns = zip(self.sample.y.T, K, strict=True)
        return np.concatenate([balanced_factors(np.bincount(y, weights=weights, minlength=k)) for y, k in columns])

    def grow_all(self, seeds: np.ndarray, budget: Budget) -> list[FlatTree]:
        """Grow the trees of all seeds; when the budget is spent, stop after the trees in progress."""
        found = map_blocks(
            lambda start, stop: None if budget.spent(start) and start else self.grow(int(seeds[start])),
            len(seeds),
            1,
            self.estimator.n_jobs,
        )
        trees = []
        for tree in found:
            if tree is None:  # trees that finish later would be selected by their speed
                break
            trees.append(tree)
        return trees


def _columns(estimator, sample: Sample, counts: np.ndarray) -> tuple[np.ndarray | None, solver.Bins | None]:
    """Return the columns for exact cuts, or their bins; sparse data are read in blocks of columns."""
    who = type(estimator).__name__
    if estimator.max_bins is None:
        require_memory(who, sample.X, 8, "set max_bins=255, or use fewer columns")
        return as_columns(sample.X, sample.categories), None
    require_memory(who, sample.X, 1, "use fewer columns, for example those chosen by a linear model")
    table = sample.X.tocsc() if sparse.issparse(sample.X) else sample.X
    return None, _binned(sample._replace(X=table), counts, estimator.max_bins, estimator.n_jobs)


def _binned(sample: Sample, counts: np.ndarray, max_bins: int, n_jobs) -> solver.Bins:
    """Bin the columns, at weighted quantiles if there are many values; each category is its own bin."""
    X, weights = sample.X, sample.weights
    kept = None if weights is None else weights[weights > 0]

    def work(start: int, stop: int) -> solver.Bins:
        values = dense_columns(X, start, stop)
        for j in range(start, stop):
            if j in sample.categories:
                values[j - start] = codes_of(values[j - start], sample.categories[j])
        seen = values if weights is None else values[:, weights > 0]
        cuts = find_bins(seen.T, kept, max_bins, np.zeros(len(values), dtype=bool), 1)
        edges = [line[: count - 1] for line, count in zip(cuts.cuts, cuts.n_bins, strict=True)]
        return solver.bin_columns(values, max_bins, counts[start:stop], edges)

    parts = map_blocks(work, X.shape[1], COLUMNS, n_jobs)
    return solver.Bins(*(np.concatenate([getattr(part, name) for part in parts]) for name in solver.Bins._fields))


def growth_rules(estimator, seed: int, n: int, weight: float, d: int) -> Rules:
    """Return the growing rules of a tree with ``n`` rows of total weight ``weight`` and ``d`` columns."""
    return Rules(
        **stopping_rules(estimator.get_params(deep=False), n, weight),
        max_features=n_columns(estimator.max_features, d) if estimator.subset == "split" else 2**31 - 1,
        random_cuts=estimator._random_cuts,
        seed=int(seed),
    )


def columns_of(estimator, seed: int, d: int) -> np.ndarray | None:
    """Return the columns drawn for the tree with this seed, or None if columns are drawn for each split."""
    if estimator.subset == "split":
        return None
    count = n_columns(estimator.max_features, d)
    return np.sort(np.random.RandomState(seed).choice(d, count, replace=False))


def pruned(estimator, tree: FlatTree) -> FlatTree:
    """Return the tree after cost-complexity pruning with ``ccp_alpha``."""
    if estimator.ccp_alpha == 0:
        return tree
    path = weakest_links(tree, tree.weight * tree.impurity / tree.weight[0])
    return solver.collapse(tree, path.collapse_at <= float(estimator.ccp_alpha))


def balanced_factors(totals: np.ndarray) -> np.ndarray:
    """Return class factors that equalize the given total weights, with mean one over the rows; 1 for absent classes."""
    present = totals > 0
    factors = np.ones(len(totals))
    factors[present] = totals.sum() / (np.count_nonzero(present) * totals[present])
    return factors


def _part(table, subset):
    return table if table is None or subset is None else np.ascontiguousarray(table[subset])


def sum_values(X: Any, trees: list[FlatTree], categories: dict[int, np.ndarray], n_jobs=None) -> np.ndarray:
    """Return the leaf values summed over the trees, with shape (rows, values); bitwise identical for any ``n_jobs``."""
    n_values = trees[0].values.shape[1]
    total, X = np.zeros((X.shape[0], n_values)), X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
    packed = [pack(tree) if worth_packing(tree, X.shape[0]) else None for tree in trees]

    def work(start: int, stop: int) -> None:
        rows = as_rows(dense_rows(X, start, stop), categories)
        for tree, nodes in zip(trees, packed, strict=True):
            if nodes is None and categories:
                add_leaf_values(tree.values, solver.apply(tree, rows), total[start:stop])
            elif nodes is None:
                add_values(rows, *(getattr(tree, name) for name in ARRAYS), total[start:stop])
            else:
                add_leaf_values(tree.values, packed_leaves(rows, nodes), total[start:stop])

    map_blocks(work, X.shape[0], ROWS, n_jobs)
    return total


@compiled
def leaf_of(x, feature, threshold, left, right, missing_left):
    """Return the leaf of a row."""
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
