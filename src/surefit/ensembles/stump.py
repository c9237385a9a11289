from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.blocks import dense_columns
from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import N_JOBS, check_params, read_data
from surefit.ensembles.labels import read_labeled
from surefit.solvers.boosting.stumps import Stump, best_stump, sorted_columns


class DecisionStump(CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Decision stump: the split of one column with the smallest weighted 0-1 error.

    .. math:: \min_{j, s, a, b} \; \frac{1}{S} \sum_i s_i \, \mathbf 1\{y_i \ne h(x_i)\}, \qquad
        h(x) = a \text{ if } x_j \le s \text{ else } b, \qquad S = \sum_i s_i.

    Hypothesis class: stumps, including constants. Loss: 0-1. Optimizer: exhaustive search by scanning sorted columns. A
    tree of depth one grown by Gini or entropy is in general *not* this stump.

    Guarantee: no stump has a smaller weighted error, up to rounding (theory: :ref:`stump-optimality`).

    Ties go to the lowest column, then to the lowest threshold, then (two classes) to the second class above the
    threshold.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads that sort the columns; -1 uses all cores. The result does not depend on it.

    Attributes
    ----------
    feature_ : int
        Column :math:`j`.
    threshold_ : float
        Threshold :math:`s`, half-way between two values; minus infinity for a constant.
    left_, right_ : int
        Indices into ``classes_`` of the labels at or below the threshold, and above it.
    error_ : float
        Weighted error on the training rows, in [0, 1].
    feature_importances_ : ndarray of shape (n_features,)
        One at ``feature_``; all zeros for a constant.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Of these two columns, Gini prefers the second, which leaves one side pure but misclassifies 205 rows; the first
    misclassifies 200:

    >>> import numpy as np
    >>> from surefit import DecisionStump
    >>> y = np.repeat([0, 1], 400)
    >>> X = np.column_stack([np.repeat([0, 1, 0, 1], [300, 100, 100, 300]), np.repeat([0, 1, 0], [205, 195, 400])])
    >>> stump = DecisionStump().fit(X, y)
    >>> stump.feature_, stump.threshold_, stump.error_
    (0, 0.5, 0.25)
    >>> stump.verify(X, y)["stump.optimal"].level
    'exact'
    """

    _rules = {"n_jobs": N_JOBS}

    def __init__(self, *, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Find the best stump, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        data = read_labeled(self, X, y, sample_weight)
        weights = np.ones(len(data.codes)) if data.weights is None else data.weights
        counted = data.counted  # rows of weight zero do not affect thresholds
        order = sorted_columns(counted.X, self.n_jobs)
        stump = best_stump(counted.X, order, counted.codes, weights[weights > 0], len(data.classes), self.n_jobs)
        self._set(stump, data.classes)
        wrong = self._codes(data.X) != data.codes
        self.error_ = math.fsum(weights[wrong]) / math.fsum(weights)
        self._issue(
            "A",
            [Claim("stump.optimal", _resolution(weights), numbers={"error": self.error_})],
            problem={},
            model=("feature_", "threshold_", "left_", "right_", "classes_", "error_"),
            sample=(data.X, data.y, data.weights),
            run={"solver": "scan of sorted columns", "reason": "converged"},
        )
        return self

    def predict(self, X) -> np.ndarray:
        """Return the class of each row."""
        check_is_fitted(self)
        return self.classes_[self._codes(read_data(self, X, reset=False, dtype=[np.float64, np.float32]))]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Indicator of the column of the split; all zeros for a constant."""
        found = np.zeros(self.n_features_in_)
        found[self.feature_] = float(np.isfinite(self.threshold_))
        return found

    def _set(self, stump: Stump, classes: np.ndarray) -> None:
        self.feature_, self.threshold_, self.left_, self.right_ = stump
        self.classes_ = classes

    def _codes(self, X: np.ndarray) -> np.ndarray:
        column = dense_columns(X, self.feature_, self.feature_ + 1)[0]
        cut = np.float64(self.threshold_)  # a Python float would be rounded to the type of the column
        return np.where(column <= cut, self.left_, self.right_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a stump predicts two labels, which is not enough for three classes
        return tags


def _resolution(weights: np.ndarray) -> float:
    """Bound the weight fraction by which a better stump may have been missed; zero if the sums are exact.

    The scan keeps the first of several errors that agree to 1e-13. The sums of n weights, in the scan and in the
    checker, have rounding errors of less than n units in the last place, with four sums on either side.
    """
    total = float(np.sum(weights))
    return 0.0 if np.all(weights == np.rint(weights)) and total < 1e12 else 1e-13 + 16 * rounding(len(weights) + 8)


def rounding(n: int) -> float:
    """Return the relative rounding error of a sum of ``n`` non-negative numbers, rounded up."""
    return n * 2.0**-53 * (1 + 1e-6)
