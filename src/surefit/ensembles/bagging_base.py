"""What both bagging estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import Invalidated
from surefit.core.validation import read_data
from surefit.ensembles.forest_base import RULES as FOREST_RULES

READ: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
RULES = {
    name: FOREST_RULES[name]
    for name in ("n_estimators", "max_samples", "max_features", "bootstrap", "warm_start", "n_jobs", "random_state")
} | {name: FOREST_RULES[name] for name in ("verbose", "delta", "max_time")}


class BaggingMixin:
    """Adds the table of what the members say, and its comparison with the certificate."""

    estimators_: list
    estimators_features_: list

    def _rows(self, X) -> np.ndarray:
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    def _said(self, X: np.ndarray) -> np.ndarray:
        """What each member says of each row, (members, rows, values)."""
        members = zip(self.estimators_, self.estimators_features_, strict=True)
        return np.array([self._member_says(member, X[:, columns]) for member, columns in members])

    def _member_says(self, member, X: np.ndarray) -> np.ndarray:
        raise TypeError("A bagging estimator says how its members are asked.")

    def verify(self, X, y=None, sample_weight=None):
        """Re-derive every claim of ``certificate_``; the members are asked again for what they said."""
        certificate = self.certificate_  # type: ignore[attr-defined]
        for claim in certificate.claims:
            if "said" in claim.witness and not np.array_equal(claim.witness["said"], self._said(self._rows(X))):
                raise Invalidated(f"{type(self).__name__}: the members do not say what was certified.")
        return certificate.verify(X, y, sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags
