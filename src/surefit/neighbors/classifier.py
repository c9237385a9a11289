from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from surefit.neighbors.base import NeighborsBase, read_training


class KNeighborsClassifier(ClassifierMixin, NeighborsBase):
    r"""The label of most of the k nearest training rows.

    .. math:: \hat r_c(x) = \frac{\sum_{i \in N_k(x)} v_i 1\{y_i = c\}}{\sum_{i \in N_k(x)} v_i}, \qquad
              h(x) = \min \operatorname*{argmax}_c \hat r_c(x)

    Hypothesis class: rules that are constant where the k nearest rows are. Loss: zero-one. Optimiser: none; the search is exact.

    Guarantee: neighbours are those of sorting all double-precision distances by (distance, index), however they were found; of
    classes with equal votes the first in ``classes_`` wins. Universally consistent if :math:`k \to \infty` and :math:`k / n \to 0`
    (theory: :ref:`consistency`). With one neighbour and distinct rows the training error is zero, which says nothing about
    new rows: no bound of the risk comes free, and the certificate says so.

    Memory: the training rows, and 4 (d + 1) bytes a row for the search.

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        Neighbours that vote.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        One vote each; one over the distance (rows at distance zero then decide alone); or a function of the distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both names of trees mean it); the answer is the same. "auto" takes the tree up to 8 columns.
    leaf_size : int >= 1, default=30
        Accepted.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" takes distances for X. A kernel of ``surefit.kernels`` measures distances between its features
        (:func:`surefit.kernel_distances`); with a kernel of strings X is a list of strings.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Threads; same answer for any number.
    kernel : str, callable, kernel or None, default=None
        The same for names and functions: distances in the feature space of a kernel; ``metric`` is then not used.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    n_samples_fit_ : int
        Training rows of positive weight.
    sample_indices_ : ndarray
        Their places in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    kernel_ : Kernel
        The kernel, if one was given.
    outputs_2d_ : bool
        False; one target a row.
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
    >>> model.verify(X, y)["knn.neighbours"].level
    'recomputed'
    """

    def fit(self, X, y, sample_weight=None):
        """Remember the rows; a weight counts a row as many times. Returns the estimator."""
        X, y = read_training(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._remember(X, y, sample_weight, classes=len(self.classes_))
        self._codes = codes[self.sample_indices_]
        self.outputs_2d_ = False
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class among the votes, columns in the order of ``classes_``."""
        distances, indices, counts = self._voters(X)
        shares = self._shares(distances, counts)
        votes = np.zeros((len(indices), len(self.classes_)))
        rows = np.repeat(np.arange(len(indices)), indices.shape[1])
        np.add.at(votes, (rows, self._codes[indices].ravel()), shares.ravel())
        total = votes.sum(axis=1, keepdims=True)
        # A function of the distances may give all neighbours no weight at all; then they vote alike.
        if np.any(total == 0):
            np.add.at(
                votes, (rows, self._codes[indices].ravel()), (np.repeat(total, indices.shape[1]) == 0) * counts.ravel()
            )
            total = votes.sum(axis=1, keepdims=True)
        return votes / total

    def predict(self, X) -> np.ndarray:
        """Return the label with most votes, the first of ``classes_`` among equals."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]
