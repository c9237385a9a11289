"""Class scores and predictions from the scores of pairs of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefit.kernel_machines.svc_training import problem_coefficients
from surefit.kernel_machines.svm_inputs import read_rows
from surefit.kernels import Linear


def vote(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the votes of each class; a positive score is a vote for the first class of the pair."""
    votes = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(_pairs(n_classes)):
        first = scores[:, k] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
    return votes


def one_against_rest_scores(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the votes plus a monotone transform of the summed scores that is below 1/3, as in scikit-learn."""
    sums = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(_pairs(n_classes)):
        sums[:, i] += scores[:, k]
        sums[:, j] -= scores[:, k]
    return vote(scores, n_classes) + sums / (3 * (np.abs(sums) + 1))


def consistent(scores: np.ndarray, n_classes: int, strategy: str, break_ties: bool) -> np.ndarray:
    """Return class scores whose largest belongs to the predicted class; ties of votes may swap two scores."""
    if strategy == "ovr":
        return scores
    z = one_against_rest_scores(scores, n_classes)
    if not break_ties:
        rows = np.arange(len(z))
        chosen, top = np.argmax(vote(scores, n_classes), axis=1), np.argmax(z, axis=1)
        z[rows, chosen], z[rows, top] = z[rows, top], z[rows, chosen]
    return z


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


class VotesMixin:
    """Mixin with the scores and predictions of a machine that consists of two-class problems."""

    classes_: np.ndarray
    intercept_: np.ndarray
    multi_class: str
    decision_function_shape: str
    break_ties: bool
    _functions: Any
    _weights: Any
    _support_codes: np.ndarray

    def decision_function(self, X) -> np.ndarray:
        """Return one score per row (two classes), or one per class or pair (see ``decision_function_shape``)."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores.ravel()
        pairs = self.multi_class == "ovo"
        return (
            one_against_rest_scores(scores, len(self.classes_))
            if pairs and self.decision_function_shape == "ovr"
            else scores
        )

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties (for two classes, a score of zero) go to the first class."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores.ravel() > 0).astype(int)]
        if self.multi_class == "ovr":
            return self.classes_[np.argmax(scores, axis=1)]
        K = len(self.classes_)
        return self.classes_[
            np.argmax(one_against_rest_scores(scores, K) if self.break_ties else vote(scores, K), axis=1)
        ]

    def ranked_scores(self, X) -> np.ndarray:
        """Return scores whose largest (for two classes, whose sign) determines the predicted class."""
        scores = self._scores(X)
        return (
            scores.ravel()
            if scores.shape[1] == 1
            else consistent(scores, len(self.classes_), self.multi_class, self.break_ties)
        )

    def _scores(self, X) -> np.ndarray:
        """Return the scores of the two-class problems, one column each."""
        check_is_fitted(self)
        return self._functions(read_rows(self, X), self._problem_coefficients()) + self.intercept_

    def _problem_coefficients(self) -> np.ndarray:
        return problem_coefficients(self, len(self.classes_), self._support_codes, self.multi_class)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the columns; only for a linear kernel."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self._weights(self._problem_coefficients())
