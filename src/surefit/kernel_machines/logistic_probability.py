"""Class probabilities from the scores of logistic losses: two classes, softmax, or one against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.probabilities import softmax_log, two_classes_log


class LogisticProbabilityMixin:
    """Mixin that adds softmax or one-versus-rest probabilities to a classifier with ``decision_function``."""

    decision_function: Any
    multi_class: str

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the log probabilities of the classes as an array of shape (n_rows, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return two_classes_log(scores)
        if self.multi_class == "multinomial":
            return softmax_log(scores)
        logs = -np.logaddexp(0.0, -scores)
        return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes as an array of shape (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(X))
