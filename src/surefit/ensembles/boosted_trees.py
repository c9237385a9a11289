"""What both gradient boosting estimators share: parameters, packed trees, scores."""

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

#: Arrays of all trees, one after the other; ``tree_starts_`` says where each begins.
PACKED = ("feature", "bin", "missing_left", "left", "right", "subset", "value", "low", "high")


class BoostedTreesMixin:
    """Adds scores, the packed form that certificates speak of, and the tag for missing values."""

    _trees: list[list[Tree]]  # one list a round: a tree for each score
    _bins: Bins
    baseline_: np.ndarray
    n_jobs: Any

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees a round: one a class if there are more than two."""
        return len(self.baseline_)

    def verify(self, X, y=None, sample_weight=None):
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(read_columns(self, X, reset=False), y, sample_weight=sample_weight)  # type: ignore[attr-defined]

    def _scores(self, X) -> np.ndarray:
        """Scores of the rows, shape (scores, rows)."""
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

    def _pack(self) -> None:
        """Lay all trees one after the other."""
        flat = [tree for trees in self._trees for tree in trees]
        self.tree_starts_ = np.cumsum([0, *(len(tree.feature) for tree in flat)])
        for name in PACKED:
            setattr(self, f"tree_{name}_", np.concatenate([getattr(tree, name) for tree in flat]))
        self.bin_cuts_, self.n_bins_ = self._bins.cuts, self._bins.n_bins
        self.is_categorical_ = self._bins.categorical

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags
