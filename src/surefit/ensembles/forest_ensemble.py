"""Shared parts of the forest estimators: parameters, packed trees, importances and agreement."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from surefit.core.blocks import by_rows
from surefit.core.errors import InvalidData
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    one_of,
)
from surefit.ensembles.forest_grow import sum_values
from surefit.ensembles.members import MembersMixin, random_stream
from surefit.problems.forests import STOPPING
from surefit.solvers.trees import FlatTree, apply
from surefit.solvers.trees.flat import LEAF
from surefit.trees.categories import encode, read_table
from surefit.trees.columns import as_rows, read_categories

READ: dict[str, Any] = {
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
    "accept_sparse": "csr",
}
#: Parameters of the forest that its trees have too, as in scikit-learn.
OF_TREES = ("criterion", "max_features", *STOPPING, "ccp_alpha", "monotonic_cst")

SHARE = Rule("a number in (0, 1]", lambda v: isinstance(v, float) and 0 < v <= 1)
_TWO = Rule("an integer >= 2", lambda v: COUNT.allows(v) and v >= 2)
_OPEN = Rule("a number in (0, 1)", lambda v: POSITIVE.allows(v) and v < 1)

RULES: dict[str, Rule] = {
    "n_estimators": COUNT,
    "max_depth": NOTHING | COUNT,
    "min_samples_split": _TWO | SHARE,
    "min_samples_leaf": COUNT | _OPEN,
    "min_weight_fraction_leaf": Rule("a number from 0 to 0.5", lambda v: NON_NEGATIVE.allows(v) and v <= 0.5),
    "max_features": NOTHING | COUNT | SHARE | one_of("sqrt", "log2"),
    "max_leaf_nodes": NOTHING | _TWO,
    "min_impurity_decrease": NON_NEGATIVE,
    "bootstrap": BOOLEAN,
    "oob_score": BOOLEAN | Rule("a function of targets and predictions", callable),
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "verbose": ANYTHING,
    "warm_start": BOOLEAN,
    "ccp_alpha": NON_NEGATIVE,
    "max_samples": NOTHING | COUNT | Rule("a number > 0", lambda v: isinstance(v, float) and POSITIVE.allows(v)),
    "monotonic_cst": NOTHING | ARRAY,
    "subset": one_of("split", "tree"),
    "categorical_features": ANYTHING,
    "max_bins": NOTHING | Rule("an integer from 2 to 255", lambda v: COUNT.allows(v) and 2 <= v <= 255),
    "delta": _OPEN,
    "max_time": NOTHING | POSITIVE,
}


def read_outputs(y: np.ndarray) -> np.ndarray:
    """Return a single-column target as a vector, with scikit-learn's warning; return several targets unchanged."""
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def chosen_classes(tree: FlatTree) -> np.ndarray:
    """Return an indicator of the class with the largest fraction in each node, for each target."""
    parts = [np.eye(part.shape[1])[part.argmax(axis=1)] for part in tree.by_output(tree.values)]
    return np.concatenate(parts, axis=1)


def _same_categories(one: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[j], other[j]) for j in one)


class Agreement(NamedTuple):
    """Similarity of the trees on some rows."""

    pairwise: (
        np.ndarray
    )  # (trees, trees): fraction of rows on which two trees agree, or the correlation of their predictions
    mean: float  # over different trees
    scores: np.ndarray | None  # accuracy, or negative mean squared error, of each tree, if targets were given


def _packed(name: str) -> property:
    def get(self) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in self.trees_])

    get.__doc__ = f"``{name}`` of the nodes of all trees, concatenated."
    return property(get)


class ForestMixin(MembersMixin):
    """Mixin with the packed format of certificates, importances and the agreement report."""

    trees_: list[FlatTree]
    n_jobs: Any
    categories_: dict[int, np.ndarray] = {}
    category_labels_: dict[int, np.ndarray] = {}
    drawn_by_index_ = False  # whether draws depend on row indices instead of values (rows in partitions)
    _random_cuts = False  # whether each column has one random cut, as in extremely randomized trees

    tree_feature_ = _packed("feature")
    tree_threshold_ = _packed("threshold")
    tree_left_ = _packed("left")
    tree_right_ = _packed("right")
    tree_missing_left_ = _packed("missing_left")
    tree_value_ = _packed("values")
    tree_kind_ = _packed("kind")
    tree_words_ = _packed("words")

    def _as_estimators(self, kind: type, fitted: tuple[str, ...]) -> list:
        """Return the trees as estimators of this class, with the parameters and fitted attributes that they share with the forest."""
        shared, found = {name: getattr(self, name) for name in OF_TREES}, []
        for tree, seed in zip(self.trees_, self.tree_seeds_, strict=True):
            member = kind(random_state=int(seed), **shared)
            vars(member).update(tree_=tree, **{name: getattr(self, name) for name in fitted})
            found.append(member)
        return found

    @property
    def tree_set_start_(self) -> np.ndarray:
        """Start of the category sets of each node in ``tree_words_``."""
        before = np.cumsum([0, *(len(tree.words) for tree in self.trees_)])
        return np.concatenate([tree.start + first for tree, first in zip(self.trees_, before, strict=False)])

    @property
    def tree_n_codes_(self) -> np.ndarray:
        """Largest number of categories of a column in each tree, plus one for missing values."""
        return np.array([tree.n_codes for tree in self.trees_])

    @property
    def is_categorical_(self) -> np.ndarray:
        """Whether each column is categorical."""
        return np.isin(np.arange(self.n_features_in_), list(self.categories_))  # type: ignore[attr-defined]

    def _read_training(self, X, y, **options) -> tuple[Any, np.ndarray]:
        """Return the training data as numbers and set ``categories_``; warm starts require the same categories."""
        known = self._shown() if self.warm_start and hasattr(self, "trees_") else None  # type: ignore[attr-defined]
        rows, y = read_table(self, X, y, multi_output=True, **READ, **options)
        self.categories_ = read_categories(self, rows, X)
        if known is not None and not _same_categories(known, self._shown()):
            raise InvalidData(
                f"{type(self).__name__}: warm_start=True needs the categories of the earlier fit; fit with warm_start=False."
            )
        return rows, y

    def _shown(self) -> dict[int, np.ndarray]:
        return {**self.categories_, **self.category_labels_}

    def _certified_rows(self, X):
        """Return the rows in the format of the certificate, with text replaced by codes."""
        return encode(X, self.category_labels_)

    def _rows(self, X) -> Any:
        check_is_fitted(self)
        return read_table(self, X, reset=False, **READ)

    def _mean_values(self, X) -> np.ndarray:
        return sum_values(self._rows(X), self.trees_, self.categories_, self.n_jobs) / len(self.trees_)

    def apply(self, X) -> np.ndarray:
        """Return the index of the leaf of each row in each tree, an array of shape (rows, trees)."""
        rows = self._rows(X)

        def leaves(part: np.ndarray) -> np.ndarray:
            coded = as_rows(part, self.categories_)
            return np.column_stack([apply(tree, coded) for tree in self.trees_])

        return by_rows(rows, leaves)

    def decision_path(self, X) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Return a 0-1 matrix of the nodes on the paths of each row, and the first column of each tree."""
        rows = self._rows(X)
        paths = [member.decision_path(rows) for member in self.estimators_]
        return sparse.hstack(paths, format="csr"), self.tree_starts_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Normalized decrease of the impurity due to each column, averaged over the trees."""
        check_is_fitted(self)
        d = self.n_features_in_  # type: ignore[attr-defined]
        shares = []
        for tree in self.trees_:
            inner = tree.kind != LEAF
            total = np.bincount(tree.feature[inner], weights=(tree.weight * tree.gain)[inner], minlength=d)
            if total.sum() > 0:
                shares.append(total / total.sum())
        return np.mean(shares, axis=0) if shares else np.zeros(d)

    def permutation_importance(self, X, y, *, n_repeats: int = 5, random_state=None) -> np.ndarray:
        """Return the decrease of the score when each column is permuted, an array of shape (columns, repeats)."""
        rows = self._rows(X)
        rows, random = np.array(rows.toarray() if sparse.issparse(rows) else rows), random_stream(random_state)
        whole = self.score(rows, y)  # type: ignore[attr-defined]
        found = np.empty((rows.shape[1], n_repeats))
        for j in range(rows.shape[1]):
            kept = rows[:, j].copy()
            for k in range(n_repeats):
                rows[:, j] = kept[random.permutation(len(kept))]
                found[j, k] = whole - self.score(rows, y)  # type: ignore[attr-defined]
            rows[:, j] = kept
        return found

    @property
    def tree_starts_(self) -> np.ndarray:
        """Start of the nodes of each tree in the packed arrays, and the end of the last."""
        return np.cumsum([0, *(len(tree.feature) for tree in self.trees_)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags
