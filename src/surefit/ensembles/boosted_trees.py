"""Shared parts of the two gradient boosting estimators: parameters, packed trees and scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

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
    is_partitioned,
    one_of,
)
from surefit.ensembles.boosted_columns import read_columns
from surefit.solvers.boosting.binning import Bins, encode
from surefit.solvers.boosting.gradient import Tree, add_scores

_SHARE = Rule("a number > 0 and at most 1", lambda v: POSITIVE.allows(v) and v <= 1)
_BINS = Rule("an integer from 2 to 255", lambda v: COUNT.allows(v) and 2 <= v <= 255)
_LEAVES = Rule("an integer >= 2", lambda v: COUNT.allows(v) and v >= 2)

RULES: dict[str, Rule] = {
    "learning_rate": POSITIVE,
    "max_iter": COUNT,
    "max_leaf_nodes": NOTHING | _LEAVES,
    "max_depth": NOTHING | COUNT,
    "min_samples_leaf": COUNT,
    "l2_regularization": NON_NEGATIVE,
    "max_features": _SHARE,
    "max_bins": _BINS,
    "categorical_features": NOTHING | one_of("from_dtype") | ARRAY,
    "monotonic_cst": NOTHING | ARRAY,
    "interaction_cst": NOTHING | one_of("pairwise", "no_interactions") | ARRAY,
    "warm_start": BOOLEAN,
    "early_stopping": BOOLEAN | one_of("auto"),
    "scoring": NOTHING | ANYTHING,
    "validation_fraction": NOTHING | POSITIVE,
    "n_iter_no_change": COUNT,
    "tol": NON_NEGATIVE,
    "verbose": ANYTHING,
    "random_state": RANDOM_STATE,
    "n_jobs": N_JOBS,
    "max_time": NOTHING | POSITIVE,
}

#: Arrays of all trees, concatenated; ``tree_starts_`` contains the start of each tree.
PACKED = ("feature", "bin", "missing_left", "left", "right", "subset", "value", "low", "high")


def _packed(name: str) -> property:
    def get(self) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for trees in self._trees for tree in trees])

    get.__doc__ = f"``{name}`` of the nodes of all trees, concatenated."
    return property(get)


class BoostedTreesMixin:
    """Mixin with scores, the packed format of certificates, and the tag for missing values."""

    _trees: list[list[Tree]]  # one list per round, with one tree per score
    _bins: Bins
    baseline_: np.ndarray
    n_jobs: Any

    tree_feature_ = _packed("feature")
    tree_bin_ = _packed("bin")
    tree_missing_left_ = _packed("missing_left")
    tree_left_ = _packed("left")
    tree_right_ = _packed("right")
    tree_subset_ = _packed("subset")
    tree_value_ = _packed("value")
    tree_low_ = _packed("low")
    tree_high_ = _packed("high")

    @property
    def n_trees_per_iteration_(self) -> int:
        """Number of trees per round: one, or one per class if there are more than two classes."""
        return len(self.baseline_)

    def _certified_rows(self, X):
        """Return the rows in the format of the certificate, with text replaced by codes (unless partitioned)."""
        return X if is_partitioned(X) else read_columns(self, X, reset=False)

    def _scores(self, X) -> np.ndarray:
        """Return the scores of the rows, shape (scores, rows)."""
        *_, last = self._staged_scores(X, every=False)
        return last

    def _staged_scores(self, X, every: bool = True) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        rows = read_columns(self, X, reset=False)
        words = encode(rows, self._bins, self.n_jobs)
        z = np.tile(self.baseline_[:, None], (1, rows.shape[0]))
        for stage in [[trees] for trees in self._trees] if every else [self._trees]:
            for k in range(len(z)):
                add_scores(words, [trees[k] for trees in stage], z[k], self.n_jobs)
            yield z

    @property
    def tree_starts_(self) -> np.ndarray:
        """Start of the nodes of each tree in the packed arrays, and the end of the last."""
        return np.cumsum([0, *(len(tree.feature) for trees in self._trees for tree in trees)])

    @property
    def bin_cuts_(self) -> np.ndarray:
        """Cuts between the bins of each column, or its categories."""
        return self._bins.cuts

    @property
    def n_bins_(self) -> np.ndarray:
        """Number of bins of each column."""
        return self._bins.n_bins

    @property
    def is_categorical_(self) -> np.ndarray:
        """Whether each column is categorical."""
        return self._bins.categorical

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags
