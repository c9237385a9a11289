r"""Class probabilities from scores, such that the most probable class is the predicted one.

Two classes: :math:`P(\text{second} \mid x) = \sigma(a_\pm f(x))` with one positive slope on each side of zero, so that
the probability is one half exactly where the prediction changes. Several classes: :math:`\mathrm{softmax}(a\,z(x))` of
scores whose largest belongs to the prediction. The slopes maximize the likelihood of out-of-fold scores. As in Platt
scaling, targets are moved away from 0 and 1, as if each class had one additional row with each of the labels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.solvers.calibration import fit_factor, smoothed_targets

FOLDS = 5
FACTORS = 1e-6, 1e12  # smallest and largest factor of the scores


def _has_probabilities(model) -> bool:
    if model.probability is not True:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class ProbabilityMixin:
    """Mixin that adds ``predict_proba`` and ``predict_log_proba`` if ``probability=True``."""

    probability_slopes_: np.ndarray
    ranked_scores: Callable

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class; the largest is that of the predicted class."""
        check_is_fitted(self)
        if not hasattr(self, "probability_slopes_"):
            raise NotFittedError(f"{type(self).__name__}: fit with probability=True first; it was fitted without.")
        return probabilities(self.ranked_scores(X), self.probability_slopes_)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def out_of_fold(estimator, X, labels: np.ndarray, sample_weight) -> np.ndarray:
    """Return the scores of each row from a fit without its fold; folds follow the order of the rows in each class."""
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    folds = int(min(FOLDS, counts.min()))
    rank = np.empty(len(codes), dtype=np.int64)
    for k in range(len(classes)):
        rank[codes == k] = np.arange(counts[k])
    fold = rank % max(folds, 1)
    pairwise = estimator.__sklearn_tags__().input_tags.pairwise
    scores: np.ndarray = np.zeros(0)
    for part in range(folds if folds > 1 else 1):
        test = np.flatnonzero(fold == part)
        train = np.flatnonzero(fold != part) if folds > 1 else test
        model = clone(estimator)
        model.set_params(**{name: False for name in ("probability", "warm_start") if hasattr(model, name)})
        weights = None if sample_weight is None else sample_weight[train]
        if weights is not None and any(not weights[codes[train] == k].any() for k in range(len(classes))):
            train, weights = (
                np.arange(len(codes)),
                sample_weight,
            )  # a class has no weight outside the fold: use the fit to all rows
        model.fit(X[train][:, train] if pairwise else X[train], labels[train], weights)
        found = model.ranked_scores(X[test][:, train] if pairwise else X[test])
        scores = scores if len(scores) else np.zeros((len(codes), *found.shape[1:]))
        scores[test] = found
    return scores


def fit_slopes(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the slopes: two for two classes (below and above zero), one for more."""
    if scores.ndim == 1:
        targets = smoothed_targets(codes, weights)
        sides = [scores < 0, scores > 0]
        return np.array([_slope(scores[side], targets[side], weights[side]) for side in sides])
    counts, K = np.bincount(codes, weights, minlength=n_classes)[codes], scores.shape[1]
    right = (counts + 1) / (counts + K)  # every class gets one additional row with each label
    targets = np.repeat(((1 - right) / (K - 1))[:, None], K, axis=1)
    targets[np.arange(len(codes)), codes] = right
    return np.array([fit_factor(scores, targets, weights, *FACTORS)])


def probabilities(scores: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the probabilities of the classes, one column per class."""
    if scores.ndim == 1:
        z = np.where(scores < 0, slopes[0], slopes[-1]) * scores
        second = np.where(z >= 0, 1 / (1 + np.exp(-np.abs(z))), np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))))
        return np.column_stack([1 - second, second])
    z = slopes[0] * scores
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _slope(f: np.ndarray, target: np.ndarray, weights: np.ndarray) -> float:
    """Return a positive slope, so that probabilities increase with scores; 1 if there are no rows."""
    if len(f) == 0 or not weights.any():
        return 1.0
    scale = float(np.max(np.abs(f)))
    scores = np.column_stack([np.zeros(len(f)), f / scale])
    return fit_factor(scores, np.column_stack([1 - target, target]), weights, *FACTORS) / scale
