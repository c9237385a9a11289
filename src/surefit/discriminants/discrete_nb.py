"""Common parts of the naive Bayes classifiers for counts and for binary columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.validation import ARRAY, BOOLEAN, NON_NEGATIVE
from surefit.core.warn import warn
from surefit.discriminants.base import PRIORS, READ, log_priors
from surefit.discriminants.naive_bayes import Batch, NaiveBayes, read_class_priors
from surefit.solvers.discriminants.counts import Counts, class_sums

COMMON = {"alpha": NON_NEGATIVE | ARRAY, "force_alpha": BOOLEAN, "fit_prior": BOOLEAN, "class_prior": PRIORS}


class DiscreteNB(NaiveBayes):
    """Base class of naive Bayes whose statistics are weighted sums of the columns over the rows of each class."""

    _read = READ
    _statistics: tuple[str, ...] = ("class_count_", "feature_count_")
    _parameters: tuple[str, ...] = ("class_log_prior_", "feature_log_prob_")

    class_count_: np.ndarray
    feature_count_: np.ndarray

    def _counted(self, X):
        """Return the values that are summed for each row."""
        return X

    def _update(self, batch: Batch, earlier: dict[str, np.ndarray], problem: dict[str, Any]) -> None:
        read_class_priors(self, "class_prior", problem)
        alpha = self._read_alpha(problem)
        found = batch.rows if isinstance(batch.rows, Counts) else class_sums(batch.rows, self._counted(batch.X))
        totals, counts = found
        self.class_count_ = totals + earlier.get("class_count_", 0.0)
        self.feature_count_ = counts + earlier.get("feature_count_", 0.0)
        if not np.isfinite(self.feature_count_).all():
            raise InvalidData(f"{type(self).__name__}: sums of counts overflow; divide X by a constant.")
        priors = self.class_count_ / self.class_count_.sum() if problem["priors"] is None else problem["priors"]
        self.class_log_prior_ = log_priors(np.asarray(priors))
        with np.errstate(divide="ignore"):
            self._set_log_probabilities(alpha)

    def _read_alpha(self, problem: dict[str, Any]) -> np.ndarray:
        alpha, given = np.asarray(problem["alpha"]), np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            wanted = f"a number, or {self.n_features_in_} numbers, one per column"
            raise InvalidParameter(type(self).__name__, "alpha", wanted, self.alpha)
        if not np.all(np.isfinite(given)) or np.any(given < 0):
            raise InvalidParameter(type(self).__name__, "alpha", "numbers >= 0", self.alpha)
        if np.any(alpha > given):
            who, least = type(self).__name__, float(np.max(alpha[alpha > given]))
            warn(f"{who}: alpha is too small and set to {least:g}; pass force_alpha=True to keep it.", DataWarning)
        return alpha

    def _set_log_probabilities(self, alpha: np.ndarray) -> None:
        raise TypeError("A naive Bayes classifier must define its probabilities.")

    def _scores(self, X) -> np.ndarray:
        """Return the joint log-probabilities; a row with probability zero in every class gets the priors."""
        scores = self._log_densities(X) + self._log_weights()
        absent = np.isneginf(scores)
        if absent.any():
            scores[absent.all(axis=1)] = self.class_log_prior_
        return scores

    def _log_densities(self, X) -> np.ndarray:
        return weighted_logs(self._counted(X), self.feature_log_prob_)

    def _log_weights(self) -> np.ndarray:
        return self.class_log_prior_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on the data of scikit-learn's checks, which are not counts
        return tags


class CountsNB(DiscreteNB):
    """Base class of naive Bayes for counts: entries must be non-negative."""

    def _require_features(self, X) -> None:
        if X.shape[0] and X.min() < 0:
            who = type(self).__name__
            raise InvalidData(f"{who}: Negative values in data passed to {who} (input X); counts are >= 0.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def log_shares(counts: np.ndarray) -> np.ndarray:
    """Return the logarithms of each row divided by its sum; a row of zeros gives equal fractions."""
    totals = counts.sum(axis=1, keepdims=True)
    counts = np.where(totals > 0, counts, 1.0)
    return np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))


def weighted_logs(X, logs: np.ndarray) -> np.ndarray:
    """Return ``X @ logs.T`` where zero times minus infinity is zero."""
    finite = np.isfinite(logs)
    if finite.all():
        return np.asarray(X @ logs.T)
    products = np.asarray(X @ np.where(finite, logs, 0.0).T)
    for k in np.flatnonzero(~finite.all(axis=1)):
        met = np.asarray(X @ (~finite[k]).astype(np.float64)) > 0
        products[met, k] = logs[k][~finite[k]][0]
    return products
