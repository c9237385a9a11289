"""What both trees can do once fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.validation import check_params, read_data
from surefit.solvers import trees as solver
from surefit.solvers.trees import REASONS, FlatTree
from surefit.solvers.trees.flat import LEAF
from surefit.solvers.trees.pruning import Path, parents_of, weakest_links
from surefit.trees.boxes import LeafBoxes, leaf_boxes
from surefit.trees.columns import as_rows
from surefit.trees.prune import impurity_risk
from surefit.trees.rules import Clause, clauses, rules_text, tree_text

READ: dict[str, Any] = {
    "accept_sparse": ["csc", "csr"],
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


def _node_array(name: str, words: str):
    def get(self) -> np.ndarray:
        return getattr(self.tree_, name)

    get.__doc__ = words
    return property(get)


class TreeMixin:
    """Nodes, paths, boxes, rules, importances."""

    tree_: FlatTree

    node_kind_ = _node_array("kind", "0 leaf, 1 threshold, 2 subset of categories, 3 one branch a category.")
    node_feature_ = _node_array("feature", "Column of each split, -2 at leaves.")
    node_threshold_ = _node_array("threshold", "Threshold of each split, nan where there is none.")
    node_left_ = _node_array("left", "First child, -1 at leaves.")
    node_right_ = _node_array("right", "Last child, -1 at leaves.")
    node_missing_left_ = _node_array("missing_left", "Whether a missing value goes left.")
    node_start_ = _node_array("start", "Where the category sets or branches of a node begin.")
    node_words_ = _node_array("words", "Category sets, as bits.")
    node_branches_ = _node_array("branches", "Children of nodes with one branch a category.")
    node_value_ = _node_array("value", "Class shares, mean or median of each node.")

    def apply(self, X, check_input=True) -> np.ndarray:
        """Return the node that keeps each row: a leaf, or the inner node at which a category was never seen."""
        rows = self._rows(X)
        return solver.apply(self.tree_, rows)

    def decision_path(self, X, check_input=True) -> sparse.csr_matrix:
        """Return the nodes that each row passes, as a 0-1 matrix of shape (n, n_nodes)."""
        node, parent = self.apply(X), parents_of(self.tree_.end)
        n = len(node)
        rows, columns, row = [], [], np.arange(n)
        while len(node):
            rows.append(row)
            columns.append(node)
            node = parent[node]
            row, node = row[node >= 0], node[node >= 0]
        places = np.concatenate(rows), np.concatenate(columns)
        ones = np.ones(len(places[0]), dtype=np.int64)
        return sparse.csr_matrix((ones, places), shape=(n, self.tree_.node_count))

    def get_depth(self) -> int:
        """Return the length of the longest path from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each column in the total decrease of the impurity; zeros if nothing was split."""
        check_is_fitted(self)
        tree, total = self.tree_, np.zeros(self.n_features_in_)  # type: ignore[attr-defined]
        inner = tree.kind != LEAF
        np.add.at(total, tree.feature[inner], (tree.weight * tree.gain)[inner])
        return total / total.sum() if total.sum() > 0 else total

    def leaf_reasons(self) -> dict[int, str]:
        """Return why each leaf was not split."""
        check_is_fitted(self)
        leaves = np.flatnonzero(self.tree_.kind == LEAF)
        return {int(t): REASONS[self.tree_.reason[t]] for t in leaves}

    def gain_audit(self) -> np.ndarray:
        """Return one record a split: node, column, threshold, rows, weight, impurity, gain and its share of the root's impurity."""
        check_is_fitted(self)
        tree = self.tree_
        t = np.flatnonzero(tree.kind != LEAF)
        root = tree.impurity[0] if tree.impurity[0] > 0 else 1.0
        share = tree.weight[t] / tree.weight[0] * tree.gain[t] / root
        kinds = [("node", int), ("feature", int), ("threshold", float), ("n_rows", int), ("weight", float)]
        kinds += [("impurity", float), ("gain", float), ("share", float)]
        columns = (
            t,
            tree.feature[t],
            tree.threshold[t],
            tree.n_rows[t],
            tree.weight[t],
            tree.impurity[t],
            tree.gain[t],
        )
        records = np.empty(len(t), dtype=kinds)
        for (name, _), column in zip(kinds, (*columns, share), strict=True):
            records[name] = column
        return records

    def leaf_boxes(self) -> LeafBoxes:
        """Return the box lower < x <= upper of each leaf in the numeric columns."""
        check_is_fitted(self)
        return leaf_boxes(self.tree_, self.n_features_in_)  # type: ignore[attr-defined]

    def clauses(self) -> list[Clause]:
        """Return one conjunction of tests a leaf; exactly one holds for every row whose categories were seen in training."""
        check_is_fitted(self)
        return clauses(self.tree_, self._names(), self.categories_, getattr(self, "classes_", None))  # type: ignore

    def export_rules(self) -> str:
        """Return the tree as text: for each class (each value) an OR of ANDs."""
        return rules_text(self.clauses())

    def export_text(self, decimals: int = 2) -> str:
        """Return the tree as indented text, one line a branch."""
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return tree_text(self.tree_, self._names(), self.categories_, classes, decimals)  # type: ignore[attr-defined]

    def _path(self) -> Path:
        return weakest_links(self.tree_, impurity_risk(self.tree_))

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]  # type: ignore

    def _rows(self, X) -> np.ndarray:
        check_is_fitted(self)
        return as_rows(read_data(self, X, reset=False, **READ), self.categories_)  # type: ignore[attr-defined]

    def _values(self, X) -> np.ndarray:
        rows = self._rows(X)
        return solver.predict(self.tree_, rows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def pruning_path(estimator, X, y, sample_weight=None):
    """Fit a copy without pruning and return scikit-learn's ``ccp_alphas`` and ``impurities`` of its nested prunings."""
    from sklearn.base import clone
    from sklearn.utils import Bunch

    check_params(estimator)
    whole = clone(estimator).set_params(ccp_alpha=0.0, pruning=None).fit(X, y, sample_weight=sample_weight)
    path = whole._path()
    return Bunch(ccp_alphas=path.alphas, impurities=path.risks, n_leaves=path.n_leaves)
