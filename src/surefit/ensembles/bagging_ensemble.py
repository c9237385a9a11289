"""Shared parts of the two bagging estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.routing import route, router_of
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

    def _predictions(self, X: np.ndarray, params: dict[str, Any] | None = None) -> np.ndarray:
        """Return the predictions of each member for each row, (members, rows, values); ``params`` are metadata."""
        return np.array(
            [self._member_predictions(member, X[:, columns], params or {}) for member, columns in self._members()]
        )

    def _members(self) -> Any:
        """Return pairs of a member and its columns."""
        return zip(self.estimators_, self.estimators_features_, strict=True)

    def _member_predictions(self, member, X: np.ndarray, params: dict[str, Any]) -> np.ndarray:
        raise TypeError("A bagging estimator must define _member_predictions.")

    def _base(self) -> Any:
        raise TypeError("A bagging estimator must define _base.")

    def _calls(self) -> dict[str, str]:
        """Return the method of a member that each method of the ensemble calls."""
        base = self._base()
        said = "predict_proba" if hasattr(base, "predict_proba") else "predict"
        logs = "predict_log_proba" if hasattr(base, "predict_log_proba") else said
        return {
            "fit": "fit",
            "decision_function": "decision_function",
            "predict": said,
            "predict_proba": said,
            "predict_log_proba": logs,
        }

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata of the members in a call of ``method``."""
        return route(self, method, params).estimator[self._calls()[method]]

    def get_metadata_routing(self):
        """Return the metadata routing to the members; weights are used for the draws and not routed."""
        return router_of(self, estimator=(self._base(), self._calls()))

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
