"""Common parts of the naive Bayes classifiers: validation of rows (also in batches) and claims of the certificates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.probabilities import softmax_log
from surefit.core.validation import check_labels, check_params, read_data, read_weights
from surefit.problems import pose
from surefit.solvers.discriminants.moments import group


class Batch(NamedTuple):
    """Rows of one call of ``fit`` or ``partial_fit``."""

    X: Any
    y: np.ndarray  # in the format of the checker: numbers are float64
    weights: np.ndarray | None
    rows: Any  # grouped by class; for partitioned rows, their summed statistics


class NaiveBayes(CertifiedMixin, ClassifierMixin, BaseEstimator):
    """Base class of naive Bayes classifiers; the parameters are functions of sums over the rows."""

    _claims: tuple[str, ...] = ("naive_bayes.likelihood", "naive_bayes.parameters")
    _read: dict[str, Any]  # how X is validated
    _statistics: tuple[str, ...]  # attributes that hold sums over the rows, updated by ``partial_fit``
    _parameters: tuple[str, ...]  # attributes derived from these sums

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        X, given = read_data(self, X, y, **self._read)
        check_labels(given)
        batch = self._batch(X, given, np.unique(given), sample_weight)
        empty = np.flatnonzero(np.diff(batch.rows.ends) == 0)
        if len(empty):
            raise InvalidData(
                f"{type(self).__name__}: class {self.classes_.tolist()[int(empty[0])]!r} has no row of positive weight; leave "
                "the class out, or give one of its rows a weight."
            )
        return self._learn(batch, {})

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows to the statistics; ``classes`` names all labels in the first call. Returns the estimator.

        The certificate covers the rows of this call, added to the statistics of earlier calls, which it records.
        """
        check_params(self)
        first = not hasattr(self, "classes_")
        known = self._known_classes(classes)
        X, given = read_data(self, X, y, reset=first, **self._read)
        strange = np.flatnonzero(~np.isin(given, known))
        if len(strange):
            raise InvalidData(
                f"{type(self).__name__}: row {strange[0]} has the label {given.tolist()[strange[0]]!r}, which is not among the classes "
                f"{known.tolist()} of the first call."
            )
        earlier = {} if first else {name: np.array(getattr(self, name)) for name in self._statistics}
        return self._learn(self._batch(X, given, known, sample_weight), earlier)

    def _known_classes(self, classes) -> np.ndarray:
        who = type(self).__name__
        if not hasattr(self, "classes_"):
            if classes is None:
                raise InvalidParameter(who, "classes", "all labels, in the first call to partial_fit", None)
            return unique_labels(classes)
        if classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise InvalidParameter(who, "classes", f"the same as on last call, {self.classes_.tolist()}", list(classes))
        return self.classes_

    def _batch(self, X, y: np.ndarray, classes: np.ndarray, sample_weight) -> Batch:
        weights = read_weights(self, sample_weight, X.shape[0])
        self._require_features(X)
        self.classes_ = classes
        rows = group(X, np.searchsorted(classes, y), len(classes), weights)
        return Batch(X, y.astype(np.float64) if y.dtype.kind in "biuf" else y, weights, rows)

    def _require_features(self, X) -> None:
        """Raise ``InvalidData`` for rows outside the support of the density."""

    def _learn(self, batch: Batch, earlier: dict[str, np.ndarray]):
        problem = pose(self, batch.X, batch.y, batch.weights, "classes_")
        self._update(batch, earlier, problem)
        self._issue(
            "A",
            [Claim(name, witness=earlier) for name in self._claims],
            problem=problem,
            model=("classes_", *self._statistics, *self._parameters),
            sample=(batch.X, batch.y, batch.weights),
        )
        return self

    @abstractmethod
    def _update(self, batch: Batch, earlier: dict[str, np.ndarray], problem: dict[str, Any]) -> None:
        """Add the rows to the statistics and derive the parameters."""

    @abstractmethod
    def _scores(self, X) -> np.ndarray:
        """Return the joint log-probabilities, up to a constant per row."""

    def predict_joint_log_proba(self, X) -> np.ndarray:
        """Return the log of the class probability times the class-conditional density, up to a constant per row."""
        check_is_fitted(self)
        return self._scores(read_data(self, X, reset=False, **self._read))

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithms of the posterior probabilities of the classes."""
        scores = self.predict_joint_log_proba(X)
        sure = scores == np.inf  # without smoothing, a count that no other class has
        if sure.any():
            scores = np.where(sure.any(axis=1, keepdims=True), np.where(sure, 0.0, -np.inf), scores)
        return softmax_log(scores)

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior probabilities of the classes under the model."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X) -> np.ndarray:
        """Return the most probable class of each row; ties go to the first class."""
        scores = self.predict_joint_log_proba(X)
        best = (scores[:, 1] > scores[:, 0]).astype(int) if scores.shape[1] == 2 else scores.argmax(axis=1)
        return self.classes_[best]


def read_class_priors(estimator, name: str, problem: dict[str, Any]) -> None:
    """Raise ``InvalidParameter`` unless the given class probabilities are one number >= 0 per class."""
    if problem["priors"] is None:
        return
    priors, count = np.asarray(problem["priors"]), len(problem["classes"])
    if priors.shape != (count,) or not np.all(np.isfinite(priors)) or np.any(priors < 0) or not priors.any():
        wanted = f"{count} numbers >= 0: Number of priors must match number of classes"
        raise InvalidParameter(type(estimator).__name__, name, wanted, getattr(estimator, name))
