"""Common parts of models composed of a loss and a penalty, linear or in an RKHS: reading data, and prediction by scores."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.guards import memory
from surefit.core.validation import check_labels, read_data, read_weights
from surefit.losses import is_margin_loss
from surefit.problems.base import pose
from surefit.problems.labels import class_codes
from surefit.problems.terms import loss_term

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}

LOG_LINK = ("poisson", "tweedie")  # losses whose score is the logarithm of the mean


class InactiveMixin:
    """Mixin that adds ``inactive_``: features that the certificate proves to be zero in every solution."""

    @property
    def inactive_(self) -> np.ndarray:
        """Mask of the features that are proved to be zero in every solution."""
        numbers = self.certificate_["linear.inactive"].numbers  # type: ignore[attr-defined]
        marked = np.zeros(numbers["features"], dtype=bool)
        marked[numbers["zero"]] = True
        return marked


class Rows(NamedTuple):
    """Training data of a composed model."""

    X: Any
    y: np.ndarray  # as read by the checker
    weights: np.ndarray | None  # sample weights
    targets: list[np.ndarray]  # one per problem
    c: np.ndarray  # weight of each row in the problem
    classes: np.ndarray | None
    offset: np.ndarray | None = None  # known part of the scores


def read_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, labels: bool | None = None
) -> tuple[Rows, dict[str, Any]]:
    """Read the data and build the problem; unless given, the loss determines whether the target is a label."""
    who = type(estimator).__name__
    labels = _takes_labels(estimator) if labels is None else labels
    X, y = read_data(estimator, X, y, **({**READ, "y_numeric": True} if not labels else READ))
    weights = read_weights(estimator, sample_weight, X.shape[0])
    classes = None
    if labels:
        check_labels(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise InvalidData(
                f"{who}: y has one class only ({classes.tolist()[0]!r}); a classifier needs at least two."
            )
        memory.require_classes(who, len(y), len(classes))
    y = y.astype(np.float64) if y.dtype.kind in "biuf" else y
    problem = pose(estimator, X, y, weights)
    if problem["loss"] in LOG_LINK:
        positive = problem.get("power") == 2.0
        if np.min(y) < 0 or (positive and np.min(y) == 0):
            raise InvalidData(
                f"{who}: Some value(s) of y are out of the valid range; targets must be {'> 0' if positive else '>= 0'}, got "
                f"{float(np.min(y))!r}."
            )
    c = np.ones(X.shape[0]) if weights is None else weights
    if problem["mean"]:
        c = c * (problem["strength"] / (float(X.shape[0]) if weights is None else math.fsum(weights)))
    else:
        c = c * problem["strength"]
    if not labels:
        return Rows(X, y, weights, [y], c, None), problem
    codes = class_codes(y, problem["classes"])
    if not all(math.isfinite(k) and k >= 0 for k in problem["class_weights"]):
        raise InvalidParameter(who, "class_weight", "None, 'balanced' or weights >= 0", estimator.class_weight)
    c = c * np.asarray(problem["class_weights"])[codes]
    assert classes is not None
    positives = [1] if len(classes) == 2 else range(len(classes))
    return Rows(X, y, weights, [np.where(codes == k, 1.0, -1.0) for k in positives], c, classes), problem


def _takes_labels(model: Any) -> bool:
    return bool(is_margin_loss(loss_term(model.loss, type(model).__name__)))


class ComposedMixin:
    """Mixin for prediction by scores; the loss determines whether the model is a regressor or a classifier."""

    loss: Any
    _scores: Any  # method of the subclass that returns the scores of rows

    @available_if(_takes_labels)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores: one per row for two classes, otherwise one per row and class. Only for losses of labels."""
        check_is_fitted(self)
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the scores, or for losses of labels the class of each row (a score of zero means the first class)."""
        check_is_fitted(self)
        scores = self._scores(X)
        if not _takes_labels(self):
            return np.exp(scores) if loss_term(self.loss).name in LOG_LINK else scores
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for losses of labels, else the coefficient of determination."""
        from sklearn.metrics import accuracy_score, r2_score  # takes 30 ms, and fits do not need it

        measure = accuracy_score if _takes_labels(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        if _takes_labels(self):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.positive_only = loss_term(self.loss).name in LOG_LINK
        return tags
