"""Common parts of discriminants: labels, priors, and predictions from one score per class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.probabilities import softmax, softmax_log, two_classes, two_classes_log
from surefit.core.validation import ARRAY, NOTHING, check_labels, read_data, read_weights
from surefit.core.warn import warn
from surefit.solvers.discriminants.moments import Moments, Scatters, group

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
PRIORS = NOTHING | ARRAY


class ScoredMixin(ClassifierMixin):
    """Mixin with predictions from ``_scores``, the log-posterior of each row and class up to a constant per row.

    For two classes, ``_scores`` may return one column: the log-odds of the second class.
    """

    classes_: np.ndarray

    def decision_function(self, X) -> np.ndarray:
        """Return the log-odds of the second class for two classes, else one score per class."""
        check_is_fitted(self)
        scores = self._scores(read_data(self, X, reset=False, **READ))  # type: ignore[attr-defined]
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithms of the posterior probabilities, accurate even if a probability underflows to zero."""
        scores = self.decision_function(X)
        return two_classes_log(scores) if scores.ndim == 1 else softmax_log(scores)

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior probabilities of the classes under the model."""
        scores = self.decision_function(X)
        return two_classes(scores) if scores.ndim == 1 else softmax(scores)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Labeled(NamedTuple):
    """Training rows, grouped by class, in memory or in partitions."""

    X: Any
    y: np.ndarray  # in the format of the checker: numbers are float64
    classes: np.ndarray
    sample_weight: np.ndarray | None
    rows: Any  # Grouped, or ClassesInPartitions

    @property
    def named(self) -> list:
        """Classes in the form in which a certificate stores them as JSON."""
        kinds = self.classes
        return [float(label) for label in kinds] if kinds.dtype.kind in "biuf" else [str(label) for label in kinds]


def read_labeled(estimator, X, y, sample_weight) -> Labeled:
    """Validate training data with at least two classes, each of which has a row of positive weight."""
    who = type(estimator).__name__
    X, given = read_data(estimator, X, y, ensure_min_samples=2, **READ)
    classes, codes = _encode(given)
    if len(classes) < 2:
        raise InvalidData(
            f"{who}: y has one class only ({classes.tolist()[0]!r}); a classifier needs rows of at least two classes."
        )
    sample_weight = read_weights(estimator, sample_weight, X.shape[0])
    rows = group(X, codes, len(classes), sample_weight)
    missing = (rows.ends[1:] == rows.ends[:-1]).nonzero()[0]
    if len(missing):
        raise InvalidData(
            f"{who}: class {classes.tolist()[int(missing[0])]!r} has no row of positive weight; leave the class out, or give one "
            "of its rows a weight."
        )
    return Labeled(X, given.astype(np.float64) if given.dtype.kind in "biuf" else given, classes, sample_weight, rows)


def _encode(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the index of each label among them; small integers are counted instead of sorted."""
    if y.dtype.kind in "iu" and len(y) and 0 <= y.min() and y.max() < 2**15:
        present = np.bincount(y) > 0
        return np.flatnonzero(present).astype(y.dtype), (np.cumsum(present) - 1)[y]
    check_labels(y)
    return np.unique(y, return_inverse=True)


def finite_moments(estimator, data: Labeled, scatters: Scatters) -> Moments:
    """Return the moments of the classes; raise ``InvalidData`` if squares of entries overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = data.rows.moments(scatters)
    if not (np.isfinite(found.means).all() and np.isfinite(found.scatters).all()):
        raise InvalidData(
            f"{type(estimator).__name__}: X has entries so large that sums of their squares overflow; divide its columns by a "
            "constant."
        )
    return found


def read_priors(estimator, totals: np.ndarray) -> np.ndarray:
    """Return the prior probabilities: those given, or the class frequencies."""
    given = estimator.priors
    if given is None:
        return totals / totals.sum()
    who, wanted = type(estimator).__name__, f"{len(totals)} numbers >= 0, one per class, that sum to one"
    try:
        priors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(who, "priors", wanted, given) from None
    if priors.shape != totals.shape or not np.all(np.isfinite(priors)) or np.any(priors < 0) or not priors.any():
        raise InvalidParameter(who, "priors", wanted, given)
    if abs(priors.sum() - 1.0) > 1e-5:
        warn(f"{who}: priors sum to {priors.sum():.6g} and were divided by it.", DataWarning)
        priors = priors / priors.sum()
    return priors


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return the logarithms of the priors; a prior of zero gives minus infinity without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(priors)
