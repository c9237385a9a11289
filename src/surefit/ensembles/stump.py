from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.checks.stump import resolution, sums_exactly
from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import N_JOBS, check_params, read_data
from surefit.ensembles.labels import read_labelled
from surefit.solvers.boosting.stumps import Stump, best_stump, sorted_columns


class DecisionStump(CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""One cut of one column: the stump with the smallest weighted error of all.

    .. math:: \min_{j, s, a, b} \; \frac{1}{S} \sum_i s_i \, \mathbf 1\{y_i \ne h(x_i)\}, \qquad
        h(x) = a \text{ if } x_j \le s \text{ else } b, \qquad S = \sum_i s_i.

    Hypothesis class: stumps, constants among them. Loss: 0-1. Optimiser: every stump is tried, by a scan of sorted columns.
    A tree of depth one grown by Gini or entropy is in general *not* this stump.

    Guarantee: no stump has a smaller weighted error, up to rounding (theory: :ref:`stump-optimality`).

    Ties go to the lowest column, then to the lowest threshold, then (two classes) to the second class above the threshold.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads that sort the columns; -1 is all cores. The result is the same.

    Attributes
    ----------
    feature_ : int
        Column :math:`j`.
    threshold_ : float
        Cut :math:`s`, half-way between two values; minus infinity for a constant.
    left_, right_ : int
        Places in ``classes_`` of the labels at or below the cut, and above it.
    error_ : float
        Weighted error on the training rows, in [0, 1].
    feature_importances_ : ndarray of shape (n_features,)
        One at ``feature_``; all zero for a constant.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Of these two columns Gini prefers the second, which leaves one side pure but misclassifies 205 rows; the first misclassifies 200:

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
        """Find the best stump; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        data = read_labelled(self, X, y, sample_weight)
        weights = np.ones(len(data.codes)) if data.weights is None else data.weights
        counted = data.counted  # a row without weight moves no threshold
        order = sorted_columns(counted.X, self.n_jobs)
        stump = best_stump(counted.X, order, counted.codes, weights[weights > 0], len(data.classes))
        self._set(stump, data.classes)
        wrong = self._codes(data.X) != data.codes
        self.error_ = float(np.sum(weights[wrong]) / np.sum(weights))
        doubt = 0.0 if sums_exactly(weights) else resolution(len(weights))
        self._issue(
            "A",
            [
                Claim(
                    "stump.optimal",
                    "optimality",
                    f"No stump has a weighted error smaller than {self.error_:.6g} by more than {doubt:.1g}.",
                    value=doubt,
                    limit=doubt,
                ),
                Claim("stump.error", "data_fact", f"The weighted error is {self.error_:.6g}.", value=self.error_),
            ],
            problem={"classes": len(data.classes)},
            model=("feature_", "threshold_", "left_", "right_", "classes_"),
            data=data_fingerprint(data.X, data.y, data.weights),
            run={"solver": "scan of sorted columns", "reason": "converged"},
        )
        return self

    def predict(self, X) -> np.ndarray:
        """Return the class of each row."""
        check_is_fitted(self)
        return self.classes_[self._codes(read_data(self, X, reset=False, dtype=[np.float64, np.float32]))]

    @property
    def feature_importances_(self) -> np.ndarray:
        """One at the column that is cut."""
        found = np.zeros(self.n_features_in_)
        found[self.feature_] = float(np.isfinite(self.threshold_))
        return found

    def _set(self, stump: Stump, classes: np.ndarray) -> None:
        self.feature_, self.threshold_, self.left_, self.right_ = stump
        self.classes_ = classes

    def _codes(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, self.feature_] <= self.threshold_, self.left_, self.right_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # two labels are not enough for three classes
        return tags
