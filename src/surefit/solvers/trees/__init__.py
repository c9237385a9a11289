r"""Compiled tree growing: exact on sorted columns, or by histograms on binned columns; one loop serves both.

Calling convention::

    values = np.ascontiguousarray(X.T)                          # (d, n) float64, one column after the other, nan = missing
    target = class_target(codes, n_classes, "gini", weights)    # or real_target(y, "squared_error", weights)
    # several outputs: codes (n, k) with a list of k numbers of classes, or y (n, k); impurities are means over the outputs
    tree = grow_exact(values, target, Rules(max_depth=8))       # sorts, grows, returns a FlatTree
    tree.values[apply(tree, X)]                                 # the value of the node at which each row ends

    bins = bin_columns(values, max_bins=255)                    # once for many trees: (d, n) uint8 codes and edges
    tree = grow_binned(bins, target, Rules(max_features=5, seed=17), rows=np.flatnonzero(counts))
    by_row = np.ascontiguousarray(bins.codes.T)                 # one random cut per column, no missing values: the same tree, faster
    tree = grow_random(by_row, bins.edges, target, Rules(random_cuts=True, seed=17))

- ``values``: real numbers, ``nan`` where missing. A categorical column (``categories[j] > 0``, the number of categories) contains the
  codes 0, 1, ...; binned columns have at most 255 categories.
- ``rows``: the rows to grow on, ascending (all by default). Rows of weight zero must be omitted, because weights must be
  positive. For a bootstrap sample, pass the counts as weights and ``rows=np.flatnonzero(counts)``. ``class_target`` and
  ``real_target`` take arrays over all n rows.
- ``order``: for many exact trees on the same rows, ``order = presort(values)`` once and ``grow_exact(values, target, rules, order=order)``;
  the order is copied.
- ``Rules``: stopping rules; ``max_features`` columns are drawn at every node with a generator seeded by ``seed``. Ties go
  to the lowest column, then to the lowest threshold, then to missing values on the right.
- ``monotone``: (d,) int8, 1 or -1 if the prediction must be non-decreasing or non-increasing in a column, else 0.
- Result: a :class:`~surefit.solvers.trees.flat.FlatTree`. ``values`` is (m, k): k = n_classes shares of the classes (also for two), or
  k = 1 mean (median); for several outputs side by side, with ``widths`` columns each.
  ``gain`` and ``impurity`` are per unit of weight. A subtree is a range of nodes; ``collapse`` prunes.
- ``apply(tree, X)``, ``predict(tree, X)`` and ``add_prediction(tree, X, out, scale)`` take rows (n, d), float64 or float32, in any order
  of memory.

All functions release the GIL. Growing does not modify its arguments, so several threads can grow trees from the same
``values`` or ``bins``.
"""

from __future__ import annotations

import numpy as np

from surefit.solvers.trees.absolute import absolute
from surefit.solvers.trees.binned import Bins, bin_columns, binned
from surefit.solvers.trees.criteria import CRITERIA
from surefit.solvers.trees.descend import add_prediction, apply, predict
from surefit.solvers.trees.flat import REASONS, FlatTree, collapse
from surefit.solvers.trees.grow import grow
from surefit.solvers.trees.nodes import Rules
from surefit.solvers.trees.outputs import Several
from surefit.solvers.trees.presorted import presort, presorted
from surefit.solvers.trees.random_growth import grow_by_rows
from surefit.solvers.trees.targets import Classes, Sums

__all__ = [
    "REASONS",
    "Bins",
    "FlatTree",
    "Rules",
    "add_prediction",
    "apply",
    "bin_columns",
    "class_target",
    "collapse",
    "grow_binned",
    "grow_exact",
    "grow_random",
    "predict",
    "presort",
    "real_target",
]


def class_target(codes: np.ndarray, n_classes, criterion: str = "gini", weights: np.ndarray | None = None):
    """Return the target of a classification: ``codes`` in 0 .. n_classes - 1; weights > 0 or None.

    Several outputs: one column of codes and one entry of ``n_classes`` each.
    """
    weights = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if np.ndim(n_classes):
        lines = np.ascontiguousarray(codes.T, dtype=np.int32)
        return Several(Classes(lines, weights, CRITERIA[criterion], int(max(n_classes))), _starts(n_classes))
    if n_classes <= 2:
        return Sums(np.ascontiguousarray(codes, dtype=np.uint8), weights, CRITERIA[criterion])
    return Classes(np.ascontiguousarray(codes, dtype=np.int32), weights, CRITERIA[criterion], int(n_classes))


def real_target(y: np.ndarray, criterion: str = "squared_error", weights: np.ndarray | None = None):
    """Return the target of a regression; sums lose digits if the mean of ``y`` is far from zero, so center squared errors first."""
    weights = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    lines = np.ascontiguousarray(y.T, dtype=np.float64)
    target = absolute(lines, weights) if criterion == "absolute_error" else Sums(lines, weights, CRITERIA[criterion])
    return target if y.ndim == 1 else Several(target, _starts([1] * y.shape[1]))


def _starts(widths) -> np.ndarray:
    return np.cumsum([0, *widths]).astype(np.int64)


def grow_exact(
    values, target, rules: Rules, *, order=None, rows=None, categories=None, monotone=None, n_jobs=None
) -> FlatTree:
    """Grow a tree in which every split is the best of all cuts of all considered columns at its node."""
    order = presort(values, rows, n_jobs) if order is None else order.copy()
    return _grown(presorted(values, order), order.shape[1], target, rules, len(values), categories, monotone, n_jobs)


def grow_binned(bins: Bins, target, rules: Rules, *, rows=None, categories=None, monotone=None) -> FlatTree:
    """Grow a tree in which every split is the best of all bin edges of all considered columns at its node."""
    data = binned(bins, target, rows)
    return _grown(data, len(data.rows), target, rules, len(bins.codes), categories, monotone)


def grow_random(by_row: np.ndarray, edges: np.ndarray, target, rules: Rules, *, rows=None) -> FlatTree:
    """Grow the tree of ``grow_binned`` with one random cut per column, faster; for one target with sums, and no missing values.

    ``by_row`` (n, d) are the codes, one row after the other. Rules must not limit the number of leaves.
    """
    return _with_shares(grow_by_rows(by_row, edges, target, rules, rows), target)


def _grown(data, n: int, target, rules: Rules, d: int, categories, monotone, n_jobs=None) -> FlatTree:
    categories = np.zeros(d, dtype=np.int64) if categories is None else np.asarray(categories, dtype=np.int64)
    monotone = np.zeros(d, dtype=np.int8) if monotone is None else np.asarray(monotone, dtype=np.int8)
    return _with_shares(grow(data, n, target, rules, categories, monotone, n_jobs), target)


def _with_shares(tree: FlatTree, target) -> FlatTree:
    """Return the tree with one value per class also for two classes, and with the widths of several outputs."""
    if isinstance(target, Sums) and target.y.dtype == np.uint8:
        tree = tree._replace(values=np.column_stack([1.0 - tree.values[:, 0], tree.values[:, 0]]))
    if isinstance(target, Several):
        tree = tree._replace(widths=tuple(np.diff(target.starts).tolist()))
    return tree
