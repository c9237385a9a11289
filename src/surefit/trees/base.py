"""Shared methods of the two decision tree estimators."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.blocks import by_rows
from surefit.core.errors import InvalidData
from surefit.core.validation import check_params
from surefit.solvers import trees as solver
from surefit.solvers.trees import REASONS, FlatTree
from surefit.solvers.trees.flat import LEAF
from surefit.solvers.trees.pruning import Path, weakest_links
from surefit.trees.boxes import LeafBoxes, leaf_boxes
from surefit.trees.categories import encode, read_table
from surefit.trees.columns import as_rows
from surefit.trees.prune import impurity_risk
from surefit.trees.rules import Clause, clauses, rules_text, tree_text
from surefit.trees.split_curve import SplitCurve, split_curve


def _node_array(name: str, words: str):
    def get(self) -> np.ndarray:
        return getattr(self.tree_, name)

    get.__doc__ = words
    return property(get)


class TreeMixin:
    """Mixin with the nodes, paths, boxes, rules and importances of a fitted tree."""

    tree_: FlatTree
    category_labels_: dict = {}

    node_kind_ = _node_array("kind", "0 leaf, 1 threshold, 2 subset of categories, 3 one branch per category.")
    node_feature_ = _node_array("feature", "Column of each split, -2 at leaves.")
    node_threshold_ = _node_array("threshold", "Threshold of each split, -2 at leaves, nan at splits of categories.")
    node_left_ = _node_array("left", "First child, -1 at leaves.")
    node_right_ = _node_array("right", "Last child, -1 at leaves.")
    node_missing_left_ = _node_array("missing_left", "Whether a missing value goes left.")
    node_start_ = _node_array("start", "Start of the category sets or branches of a node.")
    node_words_ = _node_array("words", "Category sets, as bits.")
    node_branches_ = _node_array("branches", "Children of nodes with one branch per category.")
    node_value_ = _node_array("values", "Class fractions, mean or median of each node.")

    @property
    def n_codes_(self) -> int:
        """Largest number of categories of a column, plus one for missing values."""
        return int(self.tree_.n_codes)

    @property
    def is_categorical_(self) -> np.ndarray:
        """Whether each column is categorical."""
        return np.array([j in self.categories_ for j in range(self.n_features_in_)], dtype=bool)  # type: ignore[attr-defined]

    def apply(self, X, check_input=True) -> np.ndarray:
        """Return the node of each row: a leaf, or the inner node at which its category was not seen in training."""
        return by_rows(self._read(X), lambda part: solver.apply(self.tree_, as_rows(part, self.categories_)))  # type: ignore

    def decision_path(self, X, check_input=True) -> sparse.csr_matrix:
        """Return the nodes on the path of each row, as a 0-1 matrix of shape (n, n_nodes)."""
        return self.tree_.paths(self.apply(X))

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
        """Fraction of the total decrease of the impurity due to each column; zeros if the tree has no split."""
        check_is_fitted(self)
        tree, total = self.tree_, np.zeros(self.n_features_in_)  # type: ignore[attr-defined]
        inner = tree.kind != LEAF
        np.add.at(total, tree.feature[inner], (tree.weight * tree.gain)[inner])
        return total / total.sum() if total.sum() > 0 else total

    def leaf_reasons(self) -> dict[int, str]:
        """Return the reason why each leaf was not split."""
        check_is_fitted(self)
        leaves = np.flatnonzero(self.tree_.kind == LEAF)
        return {int(t): REASONS[self.tree_.reason[t]] for t in leaves}

    def gain_audit(self) -> np.ndarray:
        """Return one record per split: node, column, threshold, rows, weight, impurity, gain and share of the root impurity."""
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

    def node_splits(self, X, y, node: int = 0) -> dict[int, SplitCurve]:
        """Return all cuts of the rows of (X, y) at a node, for each numeric column that is not constant there."""
        if self.tree_.n_outputs > 1:
            raise InvalidData(
                f"{type(self).__name__}: node_splits needs one target; this tree has {self.tree_.n_outputs}."
            )
        rows = np.flatnonzero(self.decision_path(X)[:, [node]].toarray().ravel())
        values, y = self._rows(X)[rows], np.asarray(y)[rows]
        named = self.criterion  # type: ignore[attr-defined]
        criterion = "entropy" if named == "log_loss" else named
        numeric = [j for j in range(values.shape[1]) if j not in self.categories_ and len(np.unique(values[:, j])) > 1]  # type: ignore
        return {j: split_curve(values[:, j], y, criterion=criterion) for j in numeric}

    def leaf_boxes(self) -> LeafBoxes:
        """Return the box lower < x <= upper of each leaf in the numeric columns."""
        check_is_fitted(self)
        return leaf_boxes(self.tree_, self.n_features_in_)  # type: ignore[attr-defined]

    def clauses(self) -> list[Clause]:
        """Return one conjunction of tests per leaf; exactly one holds for every row without unseen categories."""
        check_is_fitted(self)
        return clauses(self.tree_, self._names(), self._shown(), getattr(self, "classes_", None))  # type: ignore

    def export_rules(self) -> str:
        """Return the tree as text in disjunctive normal form, one rule per class or value."""
        return rules_text(self.clauses())

    def export_text(self, decimals: int = 2) -> str:
        """Return the tree as indented text, one line per branch."""
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return tree_text(self.tree_, self._names(), self._shown(), classes, decimals)  # type: ignore[attr-defined]

    def _certified_rows(self, X):
        """Return the rows in the format of the certificate, with text replaced by codes."""
        return encode(X, self.category_labels_)  # type: ignore[attr-defined]

    def _shown(self) -> dict:
        """Return the values of the categorical columns as in the original table: text or numbers."""
        return {**self.categories_, **self.category_labels_}  # type: ignore[attr-defined]

    def _path(self) -> Path:
        return weakest_links(self.tree_, impurity_risk(self.tree_))

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]  # type: ignore

    def _read(self, X):
        check_is_fitted(self)
        return read_table(self, X, reset=False)

    def _rows(self, X) -> np.ndarray:
        return as_rows(self._read(X), self.categories_)  # type: ignore[attr-defined]

    def _values(self, X) -> np.ndarray:
        nodes = self.apply(X)
        return self.tree_.values[nodes]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags


def pruning_path(estimator, X, y, sample_weight=None):
    """Fit an unpruned copy and return ``ccp_alphas`` and ``impurities`` of its nested prunings, as in scikit-learn."""
    from sklearn.base import clone
    from sklearn.utils import Bunch

    check_params(estimator)
    whole = clone(estimator).set_params(ccp_alpha=0.0, pruning=None).fit(X, y, sample_weight=sample_weight)
    path = whole._path()
    return Bunch(ccp_alphas=path.alphas, impurities=path.risks, n_leaves=path.n_leaves)
