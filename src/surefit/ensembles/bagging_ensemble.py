"""Shared parts of the two bagging estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.validation import COUNT, NOTHING, read_data
from surefit.ensembles.forest_ensemble import RULES as FOREST_RULES
from surefit.ensembles.forest_ensemble import SHARE
from surefit.ensembles.members import MembersMixin

READ: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "accept_sparse": ["csr", "csc"]}
RULES = {
    name: FOREST_RULES[name]
    for name in (
        "n_estimators",
        "max_features",
        "bootstrap",
        "warm_start",
        "n_jobs",
        "random_state",
        "verbose",
        "delta",
    )
} | {"max_time": FOREST_RULES["max_time"], "max_samples": NOTHING | COUNT | SHARE}


class BaggingMixin(MembersMixin):
    """Mixin that computes the predictions of the members and compares them with the certificate."""

    estimators_: list
    estimators_features_: list

    def _rows(self, X) -> np.ndarray:
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    def _predictions(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions of each member for each row, (members, rows, values)."""
        members = zip(self.estimators_, self.estimators_features_, strict=True)
        return np.array([self._member_predictions(member, X[:, columns]) for member, columns in members])

    def _member_predictions(self, member, X: np.ndarray) -> np.ndarray:
        raise TypeError("A bagging estimator must define _member_predictions.")

    def _drawn_rows(self, seed: int) -> np.ndarray:
        if self._row_order is not None or self._n_draws == 0:
            return super()._drawn_rows(seed)
        return np.sort(np.random.RandomState(seed).choice(self._n_rows, self._n_draws, replace=False))

    def _answers_again(self, certificate, X) -> dict[str, np.ndarray]:
        """Return the predictions of the members in the format of the certificate."""
        recorded = any("said" in claim.witness for claim in certificate.claims)
        return {"said": self._predictions(self._rows(X))} if recorded else {}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        base = self.estimator  # type: ignore[attr-defined]
        if base is not None:
            own = (
                get_tags(base).input_tags if hasattr(base, "__sklearn_tags__") else None
            )  # any fit and predict will do
            tags.input_tags.allow_nan = own is not None and own.allow_nan
            tags.input_tags.sparse = own is not None and own.sparse
        else:
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags
