"""Shared parts of linear perceptrons: scores, predictions, and the classes of ``partial_fit``."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.sparse_coef import SparseCoefMixin, linear_scores
from surefit.core.validation import read_data


class LinearClassifierMixin(SparseCoefMixin, ClassifierMixin):
    """Mixin that adds ``decision_function``, ``predict``, ``sparsify``, ``densify`` and the tag for sparse input."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray

    def decision_function(self, X) -> np.ndarray:
        """Return the scores ``X w + b``: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        scores = linear_scores(X, self.coef_) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; a score of zero means the first class (with ``mistake="sign"``, the second)."""
        scores = self.decision_function(X)
        return self.classes_[positions(self, scores)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def positions(estimator, scores: np.ndarray) -> np.ndarray:
    """Return the index of the predicted class; with ``mistake="sign"`` zero counts as positive, as in the updates."""
    if scores.ndim == 2:
        return scores.argmax(axis=1)
    return (scores >= 0 if getattr(estimator, "mistake", "") == "sign" else scores > 0).astype(int)


def classes_of_stream(estimator, classes) -> np.ndarray:
    """Return the classes given in the first call of ``partial_fit``; raise if a later call gives other classes."""
    who = type(estimator).__name__
    if not hasattr(estimator, "classes_"):
        if classes is None:
            raise InvalidParameter(who, "classes", "given in the first call of partial_fit", None)
        known = unique_labels(classes)
        if len(known) < 2:
            raise InvalidData(f"{who}: classes has one class only ({known.tolist()[0]!r}); at least two are needed.")
        return known
    if classes is not None and not np.array_equal(unique_labels(classes), estimator.classes_):
        raise InvalidParameter(
            who, "classes", f"the same as in the first call, {estimator.classes_.tolist()}", list(classes)
        )
    return estimator.classes_
