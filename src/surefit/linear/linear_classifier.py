"""Shared parts of linear classifiers: labels, class weights, scores and predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.guards import memory
from surefit.core.guards.extremes import running
from surefit.core.sparse_coef import SparseCoefMixin, linear_scores
from surefit.core.validation import check_labels, read_data, read_weights
from surefit.problems.labels import weights_by_class

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class LinearClassifierMixin(SparseCoefMixin, ClassifierMixin):
    """Mixin that adds ``decision_function``, ``predict``, ``sparsify``, ``densify`` and the tag for sparse input."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray

    def decision_function(self, X) -> np.ndarray:
        """Return the scores ``X w + b``: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        scores = linear_scores(X, self.coef_) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties (for two classes, a score of zero) go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @property
    def sparse_coef_(self):
        """The coefficients as a CSR array."""
        return sparse.csr_array(self.coef_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Labeled(NamedTuple):
    """Training data of a classifier."""

    X: Any
    y: np.ndarray  # in the form that the checker reads: numbers are float64
    codes: np.ndarray  # position of each label among the classes
    classes: np.ndarray
    sample_weight: np.ndarray | None
    class_weights: np.ndarray  # one per class
    weights: np.ndarray  # product of the sample weight and the class weight, one per row

    def scaled(self, C: float) -> np.ndarray:
        """Return ``C`` times the weights; for ``C = 1`` that is the same array."""
        return self.weights if C == 1.0 else self.weights * float(C)

    @property
    def named(self) -> list:
        """Classes as floats or strings, as certificates store them in JSON."""
        kinds = self.classes
        return [float(label) for label in kinds] if kinds.dtype.kind in "biuf" else [str(label) for label in kinds]


def read_labeled(estimator, X, y, sample_weight) -> Labeled:
    """Read training data with at least two classes, each of which has a row of positive weight."""
    who = type(estimator).__name__
    X, given = read_data(estimator, X, y, **READ)
    codes, classes = encode(given)
    y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
    if len(classes) < 2:
        raise InvalidData(
            f"{who}: y has one class only ({classes.tolist()[0]!r}); a classifier needs rows of at least two classes."
        )
    sample_weight = read_weights(estimator, sample_weight, X.shape[0])
    factors = class_factors(estimator, codes, classes, sample_weight)
    weights = factors[codes] if sample_weight is None else factors[codes] * sample_weight
    present = np.bincount(codes, weights=weights, minlength=len(classes)) > 0
    if not present.all():
        raise InvalidData(
            f"{who}: class {classes.tolist()[int(np.argmin(present))]!r} has no row of positive weight, so its probability "
            "cannot be estimated; leave the class out, or give one of its rows a positive weight."
        )
    return Labeled(X, y, codes, classes, sample_weight, factors, weights)


def encode(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the class index of each label and the sorted classes; two integer classes need no sorting."""
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        above = y == high
        if low != high and low == np.rint(low) and high == np.rint(high) and np.all(above | (y == low)):
            return above.astype(np.int64), np.array([low, high])
    check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    memory.require_classes(running(), len(y), len(classes))
    return codes, classes


def class_factors(estimator, codes, classes, sample_weight) -> np.ndarray:
    """Return the weight of each class according to ``class_weight``."""
    if estimator.class_weight is None:
        return np.ones(len(classes))
    try:
        factors = weights_by_class(estimator.class_weight, classes, classes[codes], sample_weight)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(type(estimator).__name__, "class_weight", str(error), estimator.class_weight) from None
    if not (np.all(np.isfinite(factors)) and np.all(factors >= 0)):
        raise InvalidParameter(
            type(estimator).__name__, "class_weight", "None, 'balanced' or weights >= 0", estimator.class_weight
        )
    return factors
