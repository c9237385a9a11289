"""Behavior of a meta-estimator after fit: predictions and tags are those of the deployed model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData
from surefit.risk.losses import in_columns


def delegates(name: str):
    """Return whether the deployed model, or the estimator before ``fit``, has the method."""

    def check(self) -> bool:
        if "estimator_" not in vars(self) and self.by == "progressive":
            return False
        getattr(self.estimator_ if "estimator_" in vars(self) else self._base(), name)  # chained as the cause
        return True

    return check


class DeployedMixin:
    """Mixin with ``predict`` and related methods, ``score`` and the tags of the estimator; place it left of ``BaseEstimator``."""

    estimator: Any
    estimator_: Any
    by: str = ""

    def _base(self):
        if self.estimator is None:
            from surefit.linear.logistic.classifier import LogisticRegression

            return LogisticRegression()
        return self.estimator

    @property
    def classes_(self) -> np.ndarray:
        """All classes of the rows, including those missing in the training rows of the deployed model."""
        known = self.estimator_.classes_
        return vars(self).get("_classes_of_y", known)

    def predict(self, X) -> np.ndarray:
        """Return the prediction of each row by the deployed model."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(delegates("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Return the class probabilities of the deployed model; zero for a class that it was not fitted on."""
        check_is_fitted(self, "estimator_")
        return in_columns(self.estimator_.predict_proba(X), self.estimator_, self.classes_, 0.0)

    @available_if(delegates("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Return the scores of the deployed model; minus infinity for a class that it was not fitted on."""
        check_is_fitted(self, "estimator_")
        found, model = self.estimator_.decision_function(X), self.estimator_
        if not is_classifier(model) or np.array_equal(model.classes_, self.classes_):
            return found
        if any(name.endswith("decision_function_shape") and kind == "ovo" for name, kind in model.get_params().items()):
            raise InvalidData(
                f"{type(self).__name__}: the scores of {type(model).__name__} are for pairs of classes, and it does not know "
                f"all {len(self.classes_)}; use decision_function_shape='ovr', predict or another random_state."
            )
        if len(self.classes_) == 2:  # the model has one class; the column is for the second
            return np.full(len(found), np.inf if model.classes_[0] == self.classes_[1] else -np.inf)
        both = np.column_stack([-found, found]) if found.ndim == 1 else found
        return in_columns(both, model, self.classes_, -np.inf)

    def score(self, X, y, sample_weight=None) -> float:
        """Return accuracy, or R squared for a regressor, on (X, y): an estimate, if the rows are new."""
        measure = accuracy_score if is_classifier(self._base()) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self._base())
        tags.estimator_type, tags.input_tags, tags.target_tags = (
            inner.estimator_type,
            inner.input_tags,
            inner.target_tags,
        )
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required, tags.target_tags.multi_output = True, False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)
