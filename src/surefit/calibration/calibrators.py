"""Fitted maps from scores to probabilities, and a classifier together with its maps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator

from surefit.core.errors import InvalidData
from surefit.solvers.calibration import fit_factor, fit_isotonic, fit_sigmoid, one_hot

LOW, HIGH = math.exp(-10.0), math.exp(10.0)  # range of the inverse temperature
TINY = 1e-12  # added to probabilities before their logarithm is taken


class SigmoidCalibrator(BaseEstimator):
    r"""Probability :math:`\sigma(-(a s + b))` of a score s, with Platt's smoothed targets."""

    def fit(self, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> SigmoidCalibrator:
        """Fit the slope a and the intercept b."""
        slope, intercept = fit_sigmoid(scores, codes, weights)
        self.a_, self.b_ = -slope, -intercept
        return self

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of scores."""
        return expit(-(self.a_ * np.asarray(scores) + self.b_))


class IsotonicCalibrator(BaseEstimator):
    """Non-decreasing piecewise linear probability of a score, constant outside the scores of the fit."""

    def fit(self, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> IsotonicCalibrator:
        """Fit the probabilities at the scores by isotonic regression."""
        self.X_thresholds_, self.y_thresholds_ = fit_isotonic(scores, codes, weights)
        return self

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of scores."""
        return np.interp(scores, self.X_thresholds_, self.y_thresholds_)


class TemperatureCalibrator(BaseEstimator):
    r"""Probabilities :math:`\mathrm{softmax}(\beta z)` of the scores z of all classes."""

    def fit(self, logits: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> TemperatureCalibrator:
        """Fit the inverse temperature."""
        self.beta_ = fit_factor(logits, one_hot(codes, logits.shape[1]), weights, LOW, HIGH)
        return self

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return one row of probabilities per row of scores."""
        return softmax(self.beta_ * np.asarray(logits), axis=1)


CALIBRATORS: dict[str, Any] = {"isotonic": IsotonicCalibrator, "sigmoid": SigmoidCalibrator}


def response_of(estimator: Any) -> str:
    """Return the name of the method that gives scores."""
    return "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"


def raw_scores(found: Any, method: str, n_known: int, n_classes: int, kind: str) -> np.ndarray:
    """Return the scores of a classifier in the format of the calibrators, one column per score.

    Two classes have one score. ``kind="temperature"`` needs one score per class; probabilities are replaced by their
    logarithms.
    """
    found = np.asarray(found, dtype=np.float64)
    wanted = n_known if n_known > 2 or method == "predict_proba" else 1
    if found.size != len(found) * wanted:
        got = "1 number" if found.size == len(found) else f"an array of shape {found.shape[1:]}"
        raise InvalidData(
            f"CalibratedClassifierCV: {method} of a classifier with {n_known} classes must return "
            f"{wanted} {'score' if wanted == 1 else 'scores'} per row, and returned {got} per row; "
            "use a classifier that scores each class (with SVC, decision_function_shape='ovr')."
        )
    if kind == "temperature":
        if method == "predict_proba":
            return np.log(found + TINY)
        return np.column_stack([-found.ravel(), found.ravel()]) if n_known == 2 else found
    if n_known > 2:
        return found
    if n_classes == 2:
        return found[:, [1]] if method == "predict_proba" else found.reshape(-1, 1)
    return found if method == "predict_proba" else np.column_stack([-found.ravel(), found.ravel()])


class CalibratedPair:
    """A fitted classifier, and the fitted map of each of its scores."""

    def __init__(self, estimator: Any, calibrators: list[Any], *, classes: np.ndarray, method: str = "sigmoid"):
        self.estimator = estimator
        self.calibrators = calibrators
        self.classes = classes
        self.method = method

    @classmethod
    def fitted(cls, estimator: Any, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes, method: str):
        """Fit one map per score, or one for all (temperature)."""
        if method == "temperature":
            return cls(estimator, [TemperatureCalibrator().fit(scores, codes, weights)], classes=classes, method=method)
        columns = columns_of(estimator, classes)
        maps = [
            CALIBRATORS[method]().fit(column, (codes == k).astype(np.int64), weights)
            for k, column in zip(columns, scores.T, strict=True)
        ]
        return cls(estimator, maps, classes=classes, method=method)

    def scores(self, X: Any) -> np.ndarray:
        """Return the scores that are the input of the maps."""
        method = response_of(self.estimator)
        found = getattr(self.estimator, method)(X)
        return raw_scores(found, method, len(self.estimator.classes_), len(self.classes), self.method)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the calibrated probability of each class; for more than two classes, they are divided by their sum."""
        scores, K = self.scores(X), len(self.classes)
        if self.method == "temperature":
            return self.calibrators[0].predict(scores)
        found = np.zeros((len(scores), K))
        for k, column, calibrator in zip(
            columns_of(self.estimator, self.classes), scores.T, self.calibrators, strict=True
        ):
            found[:, k] = calibrator.predict(column)
        if K == 2:
            found[:, 0] = 1.0 - found[:, 1]
            return found
        total = found.sum(axis=1, keepdims=True)
        return np.divide(found, total, out=np.full_like(found, 1.0 / K), where=total != 0)


def columns_of(estimator: Any, classes: np.ndarray) -> np.ndarray:
    """Return the class index, in ``classes``, of each score."""
    return np.array([1]) if len(classes) == 2 else np.searchsorted(classes, estimator.classes_)
