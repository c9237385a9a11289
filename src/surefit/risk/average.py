"""Averages of several models: weighted means of clipped predictions or probabilities, or a weighted vote."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from surefit.risk.losses import Loss, respond


class AveragedModels(BaseEstimator):
    """Average of the models of progressive validation; created by ``Certified``, not fitted directly."""

    def __init__(self, models, weights, loss_name, low=0.0, high=1.0, classes=None):
        self.models = models
        self.weights = weights
        self.loss_name = loss_name
        self.low = low
        self.high = high
        self.classes = classes
        if classes is not None:
            self.classes_ = classes

    def average(self, X) -> np.ndarray:
        """Return the weighted mean of probabilities, votes or clipped predictions."""
        loss = Loss(
            self.loss_name, "predict_proba" if self.loss_name == "brier" else "predict", True, self.low, self.high
        )
        total = 0.0
        for model, weight in zip(self.models, self.weights, strict=True):
            answer = respond(model, X, loss, self.classes)
            votes = answer[:, None] == self.classes[None, :] if self.loss_name == "zero_one" else answer
            total = total + weight * votes
        return np.asarray(total)

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest average (ties: the first in ``classes_``), or the average itself."""
        found = self.average(X)
        return found if self.classes is None else self.classes[np.argmax(found, axis=1)]

    @available_if(lambda self: self.loss_name == "brier")
    def predict_proba(self, X) -> np.ndarray:
        """Return the averaged probabilities."""
        return self.average(X)
