from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, column_or_1d

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, read_weights
from surefit.solvers.trees import FlatTree, collapse
from surefit.solvers.trees.flat import DEPTH, LEAF, MULTIWAY, PURE, SMALL_GAIN, SPLIT, THRESHOLD, UNDEFINED
from surefit.solvers.trees.pruning import weakest_links
from surefit.trees.classifier import DecisionTreeClassifier

MOST_ROWS = 512


class OptimalTree(NamedTuple):
    """Optimal tree of a small problem, and the gap of the greedy tree; the cost is error rate + alpha x leaves."""

    tree: FlatTree
    cost: float
    errors: float  # weight of the misclassified rows
    n_leaves: int
    greedy: DecisionTreeClassifier  # grown greedily to the same depth, with its optimal pruning for the same alpha
    greedy_cost: float
    gap: float  # greedy_cost - cost
    n_subproblems: int  # number of sets of rows and depths considered


def optimal_tree(
    X,
    y,
    *,
    max_depth=3,
    alpha=0.0,
    sample_weight=None,
    categorical_features=None,
    criterion="entropy",
    max_subproblems=200_000,
) -> OptimalTree:
    r"""Find the optimal tree of bounded depth by exhaustive search, and the gap of greedy growth.

    .. math:: \min_\tau \frac1W \sum_i w_i \mathbf 1\{y_i \ne \tau(x_i)\} + \alpha |\tau|, \qquad \text{depth}(\tau) \le D

    with the fewest leaves among the minimizers. The best tree on a set of rows is the best leaf, or the best split with
    optimal subtrees of smaller depth; each set of rows is solved once. Finding the smallest tree is NP-hard, so the
    function is suitable only for tiny problems: a few dozen rows or ten boolean columns, and depth 3 or 4.

    Guarantee: no tree of depth at most D has a smaller cost.

    Parameters
    ----------
    X : array of shape (n, d)
        Training data with at most 512 rows and no missing values.
    y : array of shape (n,)
        Labels.
    max_depth : int >= 1, default=3
        Maximum depth D.
    alpha : float >= 0, default=0.0
        Penalty per leaf, in units of the error rate.
    sample_weight : array of shape (n,), optional
        Frequency weights.
    categorical_features : list of int, optional
        Columns that are split into one branch per category; the others are cut at thresholds.
    criterion : {"gini", "entropy", "misclassification"}, default="entropy"
        Criterion of the greedy tree for comparison.
    max_subproblems : int >= 1, default=200000
        Maximum number of subproblems; the search raises an error if more are needed.

    Returns
    -------
    OptimalTree
        Result with ``tree``, ``cost``, ``errors``, ``n_leaves``, the ``greedy`` tree and its ``gap``.

    Examples
    --------
    The greedy tree does not start with the genre, whose gain is 0, and needs 10 leaves although 6 are enough:

    >>> from surefit import optimal_tree
    >>> from surefit.data import load_movie_grid
    >>> X, y = load_movie_grid()
    >>> best = optimal_tree(X, y, max_depth=3, categorical_features=[0, 1, 2, 3])
    >>> best.n_leaves, best.errors, best.greedy.get_n_leaves()
    (6, 0.0, 10)
    """
    who = "optimal_tree"
    for name, value, rule in (("max_depth", max_depth, COUNT), ("alpha", alpha, NON_NEGATIVE)):
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)
    X = check_array(X, dtype=np.float64, estimator=who)
    classes, codes = np.unique(column_or_1d(y), return_inverse=True)
    if len(codes) != len(X):
        raise InvalidData(f"{who}: X has {len(X)} rows but y has {len(codes)} entries.")
    if len(X) > MOST_ROWS:
        raise InvalidData(f"{who}: X must have at most {MOST_ROWS} rows; got {len(X)}. Use DecisionTreeClassifier.")
    weights = read_weights(who, sample_weight, len(X))
    w = np.ones(len(X)) if weights is None else weights
    listed = sorted({int(j) for j in categorical_features or []})
    used = w > 0
    search = _Search(X[used], codes[used], w[used], len(classes), listed, float(alpha) * w.sum(), int(max_subproblems))
    everything = (1 << int(used.sum())) - 1
    search.best(everything, int(max_depth))
    tree = _flat(search, everything, int(max_depth))
    greedy = DecisionTreeClassifier(
        criterion=criterion,
        max_depth=max_depth,
        categorical_features=listed or None,
        categorical_split="multiway" if listed else "subset",
    ).fit(X, y, sample_weight=weights)
    risk = greedy.tree_.weight * (1 - greedy.tree_.values.max(axis=1)) / w.sum()
    path = weakest_links(greedy.tree_, risk)
    pruned = collapse(greedy.tree_, path.collapse_at <= alpha)
    errors, leaves = float(tree.weight[tree.kind == LEAF] @ _error_rates(tree)), tree.n_leaves
    cost = errors / w.sum() + float(alpha) * leaves
    greedy_cost = float(pruned.weight[pruned.kind == LEAF] @ _error_rates(pruned)) / w.sum() + alpha * pruned.n_leaves
    return OptimalTree(tree, cost, errors, leaves, greedy, greedy_cost, greedy_cost - cost, len(search.solved))


def _error_rates(tree: FlatTree) -> np.ndarray:
    return 1.0 - tree.values[tree.kind == LEAF].max(axis=1)


class _Search:
    """Dynamic programming over sets of rows, stored as integer bits; a cost is (errors + cost of leaves, leaves)."""

    def __init__(self, X, codes, w, n_classes: int, categorical: list[int], leaf_cost: float, limit: int):
        self.X, self.codes, self.w, self.n_classes = X, codes, w, n_classes
        self.leaf_cost, self.limit = leaf_cost, limit
        self.solved: dict[tuple[int, int], tuple[tuple[float, int], Any]] = {}
        self.class_masks = [_mask(codes == c) for c in range(n_classes)]
        self.unit = bool(np.all(w == 1.0))
        self.cuts = list(self._all_cuts(categorical))

    def _all_cuts(self, categorical: list[int]):
        """Yield (column, threshold or None, masks of the branches), in order of columns and thresholds."""
        for j in range(self.X.shape[1]):
            values = np.unique(self.X[:, j])
            if j in categorical:
                yield j, None, [_mask(self.X[:, j] == v) for v in values]
                continue
            for low, high in pairwise(values):
                middle = low / 2 + high / 2
                middle = middle if low <= middle < high else low
                left = _mask(self.X[:, j] <= middle)
                yield j, float(middle), [left, ((1 << len(self.X)) - 1) & ~left]

    def counts(self, rows: int) -> np.ndarray:
        """Return the weight of each class among the rows."""
        if self.unit:
            return np.array([(rows & mask).bit_count() for mask in self.class_masks], dtype=float)
        inside = _bits(rows, len(self.X))
        return np.bincount(self.codes[inside], weights=self.w[inside], minlength=self.n_classes)

    def best(self, rows: int, depth: int) -> tuple[float, int]:
        """Return the smallest cost of a tree of at most this depth on these rows."""
        key = (rows, depth)
        if key in self.solved:
            return self.solved[key][0]
        if len(self.solved) >= self.limit:
            raise InvalidData(
                f"optimal_tree: more than {self.limit} subproblems; lower max_depth, or raise max_subproblems."
            )
        counts = self.counts(rows)
        least, choice = (float(counts.sum() - counts.max()) + self.leaf_cost, 1), None
        if depth > 0 and least > (self.leaf_cost, 1):
            for cut in self.cuts:
                parts = [rows & mask for mask in cut[2] if rows & mask]
                if len(parts) < 2 or (len(parts) * self.leaf_cost, len(parts)) >= least:
                    continue
                cost, leaves = 0.0, 0
                for part in parts:
                    found = self.best(part, depth - 1)
                    cost, leaves = cost + found[0], leaves + found[1]
                if (cost, leaves) < least:
                    least, choice = (cost, leaves), cut
        self.solved[key] = least, choice
        return least


def _mask(rows: np.ndarray) -> int:
    return sum(1 << int(i) for i in np.flatnonzero(rows))


def _bits(rows: int, n: int) -> np.ndarray:
    return np.array([i for i in range(n) if rows >> i & 1], dtype=np.int64)


def _flat(search: _Search, everything: int, depth: int) -> FlatTree:
    """Convert the optimal tree to arrays, parents before children."""
    n_codes = max((len(cut[2]) for cut in search.cuts if cut[1] is None), default=0) + 1
    nodes: list[dict[str, Any]] = []
    branches: list[int] = []

    def add(rows: int, left_depth: int, level: int) -> int:
        here, node = len(nodes), _leaf(search.counts(rows), rows.bit_count(), left_depth, level)
        nodes.append(node)
        choice = search.solved[rows, left_depth][1]
        if choice is not None:
            j, threshold, masks = choice
            node |= {"kind": MULTIWAY if threshold is None else THRESHOLD, "feature": j, "reason": SPLIT}
            node["threshold"] = np.nan if threshold is None else threshold
            if threshold is None:
                node["start"] = len(branches)
                branches.extend([-1] * n_codes)
            children = []
            for code, mask in enumerate(masks):
                if rows & mask:
                    children.append(add(rows & mask, left_depth - 1, level + 1))
                    if threshold is None:
                        branches[node["start"] + code] = children[-1]
            node |= {"left": children[0], "right": children[-1]}
        node["end"] = len(nodes)
        return here

    add(everything, depth, 0)
    return _arrays(nodes, branches, n_codes)


def _leaf(counts: np.ndarray, n_rows: int, left_depth: int, level: int) -> dict[str, Any]:
    reason = PURE if counts.max() == counts.sum() else DEPTH if left_depth == 0 else SMALL_GAIN
    node: dict[str, Any] = {"kind": LEAF, "feature": UNDEFINED, "threshold": UNDEFINED}
    weight = counts.sum()
    node |= {"left": -1, "right": -1, "start": -1}
    return node | {"level": level, "value": counts / weight, "weight": weight, "n_rows": n_rows, "reason": reason}


def _arrays(nodes: list[dict[str, Any]], branches: list[int], n_codes: int) -> FlatTree:
    def column(name, kind):
        return np.array([node[name] for node in nodes], dtype=kind)

    value, weight = column("value", float), column("weight", float)
    impurity = 1.0 - value.max(axis=1)
    gain = np.zeros(len(nodes))
    for t, node in enumerate(nodes):
        below = [c for c in range(t + 1, node["end"]) if nodes[c]["level"] == node["level"] + 1]
        if below:
            gain[t] = impurity[t] - float(weight[below] @ impurity[below]) / weight[t]
    return FlatTree(
        column("kind", np.int8),
        column("feature", np.int32),
        column("threshold", float),
        column("left", np.int32),
        column("right", np.int32),
        np.zeros(len(nodes), dtype=bool),
        column("start", np.int32),
        np.empty(0, dtype=np.uint64),
        np.array(branches, dtype=np.int32),
        value,
        impurity,
        gain,
        weight,
        column("n_rows", np.int64),
        column("level", np.int32),
        column("reason", np.int8),
        column("end", np.int32),
        n_codes,
    )
