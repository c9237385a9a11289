"""Choice of a pruning inside ``fit``, by cross-validation along the weakest-link path or by validation rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from surefit.core.errors import InvalidParameter
from surefit.core.randomness import seeded
from surefit.core.validation import COUNT
from surefit.solvers.trees import FlatTree, Rules, apply, collapse
from surefit.solvers.trees.flat import LEAF
from surefit.solvers.trees.pruning import Path, held_out_losses, parents_of, reduced_error, weakest_links


class CostComplexity(NamedTuple):
    """Details of cost-complexity pruning; risks and alphas are per unit of weight."""

    alphas: np.ndarray  # (k,) pruning k is optimal from alphas[k] up to alphas[k + 1]
    risks: np.ndarray  # (k,) training risk of the prunings
    n_leaves: np.ndarray  # (k,)
    chosen: int
    alpha: float
    cv_risks: np.ndarray | None  # (k,) risk on held-out rows, None if alpha was given
    cv_errors: np.ndarray | None  # (k,) standard error of the mean of the held-out losses


class ReducedError(NamedTuple):
    """Details of reduced-error pruning: the pruned nodes and the validation risks."""

    validation_rows: np.ndarray  # row numbers
    order: np.ndarray  # nodes of the whole tree, in the order of pruning
    risks: np.ndarray  # validation risk before the first round and after each
    n_leaves: np.ndarray


class Outcome(NamedTuple):
    """Final tree, tree before pruning, and details of the pruning (None if the tree was not pruned)."""

    tree: FlatTree
    whole: FlatTree
    record: Any
    path: Path | None
    grown_on: np.ndarray | None  # training rows, if some rows were held out


def pruned(estimator, sample, rules: Rules, grow: Callable) -> Outcome:
    """Grow a tree and prune it according to the parameters of the estimator."""
    if estimator.pruning == "reduced_error":
        return _by_validation(estimator, sample, rules, grow)
    whole = grow(sample, rules)
    if estimator.pruning is None and estimator.ccp_alpha == 0.0:
        return Outcome(whole, whole, None, None, None)
    if estimator.pruning is None:
        path = weakest_links(whole, impurity_risk(whole))
        alpha = float(estimator.ccp_alpha)
        chosen = int(np.searchsorted(path.alphas, alpha, side="right")) - 1
        record = CostComplexity(path.alphas, path.risks, path.n_leaves, chosen, alpha, None, None)
    else:
        path = weakest_links(whole, node_risk(whole, sample))
        record = _by_cross_validation(estimator, sample, rules, grow, path)
    return Outcome(collapse(whole, path.collapse_at <= record.alpha), whole, record, path, None)


def impurity_risk(tree: FlatTree) -> np.ndarray:
    """Return the weighted impurity of each node, the measure to which ``ccp_alpha`` refers in scikit-learn."""
    return tree.weight * tree.impurity / tree.weight[0]


def node_risk(tree: FlatTree, sample) -> np.ndarray:
    """Return the misclassified fraction of the weight for each node; for real targets, the weighted impurity."""
    if sample.n_classes:
        return tree.weight * (1.0 - tree.values.max(axis=1)) / tree.weight[0]
    return impurity_risk(tree)


def predicted(tree: FlatTree, sample) -> np.ndarray:
    """Return the class code or value that each node predicts."""
    return (
        tree.values.argmax(axis=1).astype(np.float64) if sample.n_classes else np.ascontiguousarray(tree.values[:, 0])
    )


def _by_cross_validation(estimator, sample, rules: Rules, grow: Callable, path: Path) -> CostComplexity:
    following = np.append(path.alphas[1:], np.inf)
    middles = np.zeros(len(path.alphas))  # geometric midpoints of the ranges in which a pruning is optimal
    middles[1:] = np.sqrt(path.alphas[1:] * following[1:])
    rows = sample.rows()
    losses, squares, weight = np.zeros(len(middles)), np.zeros(len(middles)), 0.0
    for train, test in _folds(estimator, sample, rows):
        tree = grow(sample, rules, train)
        own = weakest_links(tree, node_risk(tree, sample))
        kept = apply(tree, np.asfortranarray(sample.values.T[test]))
        w = np.ones(len(test)) if sample.weights is None else sample.weights[test]
        found = held_out_losses(
            kept,
            parents_of(tree.end),
            own.collapse_at,
            predicted(tree, sample),
            sample.y[test],
            w,
            middles,
            bool(sample.n_classes),
        )
        losses, squares, weight = losses + found[0], squares + found[1], weight + w.sum()
    risks = losses / weight
    errors = np.sqrt(np.maximum(squares / weight - risks**2, 0.0) / weight)
    best = int(np.flatnonzero(risks == risks.min())[-1])
    limit = risks[best] + float(estimator.standard_errors) * errors[best]
    chosen = int(np.flatnonzero(risks <= limit)[-1])
    return CostComplexity(path.alphas, path.risks, path.n_leaves, chosen, float(path.alphas[chosen]), risks, errors)


def _folds(estimator, sample, rows: np.ndarray):
    """Yield (train, test) rows; an integer k gives k folds, every k-th row of each class in the order of the rows."""
    cv = estimator.cv
    if COUNT.allows(cv):
        if cv < 2:
            raise InvalidParameter(type(estimator).__name__, "cv", "an integer >= 2, a splitter, or pairs of rows", cv)
        folds = min(int(cv), len(rows))
        fold = np.empty(len(rows), dtype=np.int64)
        ordered = np.argsort(sample.y[rows], kind="stable") if sample.n_classes else np.arange(len(rows))
        fold[ordered] = np.arange(len(rows)) % folds
        for k in range(folds):
            if folds > 1:
                yield rows[fold != k], rows[fold == k]
        return
    for train, test in check_cv(cv, sample.y, classifier=bool(sample.n_classes)).split(sample.values.T, sample.y):
        yield np.intersect1d(train, rows), np.intersect1d(test, rows)


def _by_validation(estimator, sample, rules: Rules, grow: Callable) -> Outcome:
    rows = sample.rows()
    with seeded(sample.seed) as random:
        shuffled = random.permutation(rows)
    count = min(max(round(estimator.validation_fraction * len(rows)), 1), len(rows) - 1)
    test, train = np.sort(shuffled[:count]), np.sort(shuffled[count:])
    if not len(train):
        raise InvalidParameter(type(estimator).__name__, "pruning", "None for a single row", estimator.pruning)
    whole = grow(sample, rules, train)
    kept = apply(whole, np.asfortranarray(sample.values.T[test]))
    w = np.ones(len(test)) if sample.weights is None else sample.weights[test]
    at_node, below = node_losses(whole, sample, kept, test, w)
    marks, order, trace = reduced_error(whole, at_node, below, bool(estimator.allow_zero_gain))
    tree = collapse(whole, marks)
    sizes = [whole.n_leaves]
    for k in range(len(order)):
        so_far = np.zeros(len(whole.kind), dtype=bool)
        so_far[order[: k + 1]] = True
        sizes.append(collapse(whole, so_far).n_leaves if len(order) < 500 else -1)
    sizes[-1] = tree.n_leaves
    record = ReducedError(test, order, trace / w.sum(), np.array(sizes))
    return Outcome(tree, whole, record, None, train)


def node_losses(
    tree: FlatTree, sample, kept: np.ndarray, rows: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of the rows that end at each node, and the loss of all rows that reach it if it were a leaf."""
    estimate, parent = predicted(tree, sample), parents_of(tree.end)
    stopped, reached = np.zeros(len(tree.kind)), np.zeros(len(tree.kind))
    y = sample.y[rows].astype(np.float64)
    node, first = kept.copy(), True
    while len(node):
        loss = w * ((estimate[node] != y) if sample.n_classes else (estimate[node] - y) ** 2)
        np.add.at(reached, node, loss)
        if first:
            stopped, first = reached.copy(), False
        node = parent[node]
        y, w, node = y[node >= 0], w[node >= 0], node[node >= 0]
    stopped[tree.kind == LEAF] = 0.0
    return stopped, reached
