"""What a meta-estimator does after fit: it answers by the model it deploys, and looks like it to scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _delegates(name: str):
    """Whether the deployed model, or the one to be fitted, has the method."""

    def check(self) -> bool:
        if "estimator_" in vars(self):
            return hasattr(self.estimator_, name)
        return self.by != "progressive" and hasattr(self._base(), name)

    return check


class DeployedMixin:
    """Adds ``predict`` and its kin, ``score`` and the tags of the estimator; place it left of ``BaseEstimator``."""

    estimator: Any
    estimator_: Any
    by: str = ""

    def _base(self):
        if self.estimator is None:
            from surefit.linear.logistic import LogisticRegression

            return LogisticRegression()
        return self.estimator

    @property
    def classes_(self) -> np.ndarray:
        """Classes that the model can answer with."""
        return self.estimator_.classes_

    def predict(self, X) -> np.ndarray:
        """Return the prediction of each row by the deployed model."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Return the class probabilities of the deployed model."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Return the scores of the deployed model."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

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
