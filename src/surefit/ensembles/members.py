"""Members of an ensemble: copies of a base estimator with their own seeds, and their predicted class indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from surefit.core.validation import Rule
from surefit.ensembles.bootstrap import counts_of

MOST_SEEDS = np.iinfo(np.int32).max

#: A base estimator is known by its methods, not by its class.
ESTIMATOR = Rule(
    "an estimator with fit and predict",
    lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
)


def seeded_copy(estimator, random: np.random.RandomState):
    """Return a clone whose ``random_state`` parameters, including nested ones, are integers drawn from ``random``."""
    member = clone(estimator)
    names = sorted(
        name for name in member.get_params(deep=True) if name == "random_state" or name.endswith("__random_state")
    )
    return member.set_params(**{name: int(random.randint(MOST_SEEDS)) for name in names}) if names else member


def predicted_codes(member, X, classes: np.ndarray) -> np.ndarray:
    """Return the indices into ``classes`` of the labels that a member predicts."""
    return np.searchsorted(classes, member.predict(X)).astype(np.int16)


def random_stream(random_state) -> np.random.RandomState:
    """Return a ``RandomState``; a Generator is used to seed one."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(MOST_SEEDS)))
    return check_random_state(random_state)


def forget_out_of_bag(estimator) -> None:
    """Remove the out-of-bag attributes of an earlier fit."""
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        vars(estimator).pop(name, None)


class SequenceMixin:
    """Mixin that makes an ensemble a sequence of its members."""

    estimators_: Any  # a list, or a property that returns a list

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a member."""
        return self.estimators_[index]

    def __iter__(self):
        """Iterate over the members."""
        return iter(self.estimators_)


class MembersMixin(SequenceMixin):
    """Mixin that returns the rows to which the members of an ensemble were fitted."""

    tree_seeds_: np.ndarray
    _row_order: np.ndarray | None  # order of the rows in which the bootstrap draws are made; None without bootstrap
    _row_ends: np.ndarray | None
    _n_draws: int
    _n_rows: int

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Indices of the rows to which each member was fitted, repeated as often as they were drawn."""
        return [self._drawn_rows(int(seed)) for seed in self.tree_seeds_]

    def _drawn_rows(self, seed: int) -> np.ndarray:
        if getattr(self, "drawn_by_index_", False) and self._n_draws:
            raise AttributeError(
                f"{type(self).__name__}: estimators_samples_ needs rows in memory; the draws from partitions are repeated where they are."
            )
        if self._row_order is None:
            return np.arange(self._n_rows)
        counts = counts_of(seed, self._n_draws, self._row_order, self._row_ends)
        return np.repeat(np.arange(self._n_rows), counts)
