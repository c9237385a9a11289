from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from surefit.core.outputs import ClassListsMixin
from surefit.core.validation import check_labels, one_of
from surefit.neighbors.base import NeighborsBase
from surefit.neighbors.inputs import read_training
from surefit.neighbors.k_nearest import KNearestBase


class KNeighborsClassifier(ClassListsMixin, ClassifierMixin, KNearestBase):
    r"""K-nearest-neighbors classifier: the majority label of the k nearest training rows.

    .. math:: \hat r_c(x) = \frac{\sum_{i \in N_k(x)} v_i 1\{y_i = c\}}{\sum_{i \in N_k(x)} v_i}, \qquad
              h(x) = \min \operatorname*{argmax}_c \hat r_c(x)

    Hypothesis class: functions of the labels of the k nearest rows. Loss: zero-one. Optimizer: none; the search is exact.

    Guarantee: the neighbors are those of sorting all double-precision distances by (distance, index), for every search
    algorithm; ties of votes go to the first class in ``classes_``. The rule is universally consistent if :math:`k \to
    \infty` and :math:`k / n \to 0` (theory: :ref:`consistency`). With one neighbor and distinct rows, the training
    error is zero, which implies nothing about new data. The fit does not bound the risk, as the certificate states.

    Memory: the training rows, and 4 (d + 1) bytes per row for the search.

    Training rows in Dask collections and Parquet files stay there: every query is a pass over them (see :doc:`/scaling`).

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        Number of neighbors.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal weights, the reciprocal of the distance (only rows at distance zero count if there are any), or a function
        of the distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both tree names select it); the result is the same. "auto" uses the tree for up to 8 columns.
    leaf_size : int >= 1, default=30
        Ignored; accepted for compatibility with scikit-learn.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" expects distances as X. With a kernel of ``surefit.kernels``, distances are those between its
        features (:func:`surefit.kernel_distances`); for a string kernel, X is a list of strings.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    kernel : str, callable, kernel or None, default=None
        Kernel (also as a name or a function) whose feature-space distances are used; ``metric`` is then ignored.
    ties : {"first", "nearest"}, default="first"
        Tie rule: the first of ``classes_``, or the label of the nearest neighbor among the tied classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        Labels, sorted; one array per target if there are several.
    class_values_, class_counts_ : ndarray
        The labels of all targets, concatenated, and the number of labels of each target.
    n_samples_fit_ : int
        Number of training rows of positive weight.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    kernel_ : Kernel
        The kernel, if one was given.
    outputs_2d_ : bool
        Whether there are several targets per row.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> print(model.predict([[1.4]]), model.predict_proba([[1.4]]).round(3))
    [0] [[0.667 0.333]]
    >>> model.verify(X, y)["knn.neighbors"].level
    'recomputed'
    """

    classes_: Any  # an array, or a list of arrays for several targets

    _rules = {**NeighborsBase._rules, "ties": one_of("first", "nearest")}

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
        kernel=None,
        ties="first",
    ):
        super().__init__(
            n_neighbors,
            weights=weights,
            algorithm=algorithm,
            leaf_size=leaf_size,
            p=p,
            metric=metric,
            metric_params=metric_params,
            n_jobs=n_jobs,
            kernel=kernel,
        )
        self.ties = ties

    def fit(self, X, y, sample_weight=None):
        """Store the training rows, with ``sample_weight`` as frequency weights. Returns the estimator.

        ``y`` may have several columns, each a target with its own classes; a table of zeros and ones is a multilabel target.
        """
        X, y = read_training(self, X, y, multi_output=True)
        check_labels(y)
        self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
        y = y if self.outputs_2d_ or y.ndim == 1 else column_or_1d(y, warn=True)  # which takes long, in small fits
        self.classes_ = [np.unique(column) for column in y.T] if self.outputs_2d_ else np.unique(y)
        self._remember(X, y, sample_weight)
        return self

    def _keep_targets(self, y: np.ndarray) -> None:
        if self.outputs_2d_:
            columns = [np.searchsorted(known, column) for known, column in zip(self.classes_, y.T, strict=True)]
            self._codes = np.column_stack(columns)[self.sample_indices_].astype(np.int64)
        else:
            self._codes = np.searchsorted(self.classes_, y)[self.sample_indices_].astype(np.int64)

    def predict_proba(self, X):
        """Return the fractions of votes, in the order of ``classes_``; a list of arrays for several targets."""
        check_is_fitted(self)
        distances, labels, counts = self._ballot(X, self._codes)
        shares = self._shares(distances, counts)
        if not self.outputs_2d_:
            return _fractions(labels, shares, counts, len(self.classes_))
        return [_fractions(labels[..., j], shares, counts, len(known)) for j, known in enumerate(self.classes_)]

    def predict(self, X) -> np.ndarray:
        """Return the label with the most votes for each target; ``ties`` is the tie rule."""
        found = self.predict_proba(X)
        if not self.outputs_2d_:
            return self.classes_[self._winners(X, found, self._codes)]
        places = [self._winners(X, table, self._codes[:, j]) for j, table in enumerate(found)]
        return np.column_stack([known[place] for known, place in zip(self.classes_, places, strict=True)])

    def _winners(self, X, shares: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the index of the winning class of each row, for one target."""
        if self.ties == "first":
            return np.argmax(shares, axis=1)
        _, labels, _ = self._ballot(X, codes)  # nearest first, equal distances by index
        tied = shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-12)
        place = np.argmax(np.take_along_axis(tied, labels, axis=1), axis=1)
        return labels[np.arange(len(labels)), place]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _fractions(labels: np.ndarray, shares: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the fraction of votes of each class, for the labels of the neighbors of each row."""
    votes = np.zeros((len(labels), n_classes))
    rows = np.repeat(np.arange(len(labels)), labels.shape[1])
    np.add.at(votes, (rows, labels.ravel()), shares.ravel())
    total = votes.sum(axis=1, keepdims=True)
    # If a function of the distances gives zero weight to all neighbors, their votes are equal.
    if np.any(total == 0):
        np.add.at(votes, (rows, labels.ravel()), (np.repeat(total, labels.shape[1]) == 0) * counts.ravel())
        total = votes.sum(axis=1, keepdims=True)
    return votes / total
